package io.kvorum.testing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;

/**
 * A table of a store with a bit that is wrong in each block between two positions. Of a
 * store that nobody has open.
 */
public record DamagedTable(Path file, long first, long last) {

	/** Less than a block, which is of 4 KiB. */
	private static final int STEP = 2048;

	/**
	 * Damages the largest table of a store.
	 * @param from where in the table it begins: 0 at the start, 1 at the end
	 * @param part how much of the table; 0 is one block
	 */
	public static DamagedTable in(Path data, double from, double part) throws IOException {
		return damage(largest(tables(data)), from, part);
	}

	/** Damages the largest table of a column. */
	public static DamagedTable ofColumn(Path data, String column, double from, double part)
			throws IOException, RocksDBException {
		List<Path> tables = new ArrayList<>();
		for (Path table : tables(data)) {
			if (columnOf(table).equals(column)) {
				tables.add(table);
			}
		}
		return damage(largest(tables), from, part);
	}

	private static String columnOf(Path table) throws RocksDBException {
		RocksDB.loadLibrary();
		try (Options options = new Options(); SstFileReader reader = new SstFileReader(options)) {
			reader.open(table.toString());
			return new String(reader.getTableProperties().getColumnFamilyName(), StandardCharsets.US_ASCII);
		}
	}

	private static DamagedTable damage(Path table, double from, double part) throws IOException {
		long size = Files.size(table);
		DamagedTable damaged = new DamagedTable(table, (long) (size * from), (long) (size * (from + part)));
		damaged.flip();
		return damaged;
	}

	private static List<Path> tables(Path data) throws IOException {
		try (Stream<Path> files = Files.walk(data)) {
			return files.filter(file -> file.getFileName().toString().endsWith(".sst")).toList();
		}
	}

	private static Path largest(List<Path> tables) {
		return tables.stream().max(Comparator.comparingLong(file -> file.toFile().length())).orElseThrow();
	}

	/** Makes the table what it was. */
	public void mend() throws IOException {
		flip();
	}

	private void flip() throws IOException {
		try (FileChannel channel = FileChannel.open(this.file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			for (long position = this.first; position <= this.last; position += STEP) {
				ByteBuffer one = ByteBuffer.allocate(1);
				channel.read(one, position);
				one.put(0, (byte) (one.get(0) ^ 0x10)).rewind();
				channel.write(one, position);
			}
		}
	}

}
