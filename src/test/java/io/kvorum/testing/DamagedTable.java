package io.kvorum.testing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.stream.Stream;

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
		Path table = largest(data);
		long size = Files.size(table);
		DamagedTable damaged = new DamagedTable(table, (long) (size * from), (long) (size * (from + part)));
		damaged.flip();
		return damaged;
	}

	private static Path largest(Path data) throws IOException {
		try (Stream<Path> files = Files.walk(data)) {
			return files.filter(file -> file.getFileName().toString().endsWith(".sst"))
				.max(Comparator.comparingLong(file -> file.toFile().length()))
				.orElseThrow();
		}
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
