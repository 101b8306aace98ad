package io.kvorum.storage.rocksdb;

import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.TableProperties;

/**
 * Estimates the size of the entries of a store before compression, from what RocksDB
 * counts anyway. Tables say how large their rows are, those that are overwritten in
 * another table included; RocksDB estimates which part of the tables is live. Memtables
 * only say how many rows they have. Their memory tells little: most of that of a small
 * one is its filter.
 */
final class LiveSize {

	/** The first rows tell how large rows are where there are no tables yet. */
	private static final int SAMPLE_ROWS = 1000;

	private static final long SAMPLE_BYTES = 1 << 20;

	private final Database database;

	LiveSize(Database database) {
		this.database = database;
	}

	long bytes() throws RocksDBException {
		return bytes(this.database.entries) + bytes(this.database.large);
	}

	private long bytes(ColumnFamilyHandle column) throws RocksDBException {
		long raw = 0;
		long rows = 0;
		for (TableProperties table : this.database.db.getPropertiesOfAllTables(column).values()) {
			raw += table.getRawKeySize() + table.getRawValueSize();
			rows += table.getNumEntries();
		}
		long files = property(column, "total-sst-files-size");
		double live = (files > 0) ? Math.min(1, (double) property(column, "estimate-live-data-size") / files) : 0;
		long unflushed = property(column, "num-entries-active-mem-table")
				+ property(column, "num-entries-imm-mem-tables");
		double mean = (unflushed == 0) ? 0 : (rows > 0) ? (double) raw / rows : meanOfFirstRows(column);
		return Math.round(raw * live + unflushed * mean);
	}

	private double meanOfFirstRows(ColumnFamilyHandle column) throws RocksDBException {
		byte[] beginning = new byte[1];
		long bytes = 0;
		int rows = 0;
		try (RocksIterator iterator = this.database.db.newIterator(column, this.database.scan)) {
			iterator.seekToFirst();
			while (iterator.isValid() && rows < SAMPLE_ROWS && bytes < SAMPLE_BYTES) {
				bytes += iterator.key(beginning) + iterator.value(beginning);
				rows++;
				iterator.next();
			}
			// An iterator that meets damage just ends.
			iterator.status();
		}
		return (rows > 0) ? (double) bytes / rows : 0;
	}

	private long property(ColumnFamilyHandle column, String name) throws RocksDBException {
		return this.database.db.getLongProperty(column, "rocksdb." + name);
	}

}
