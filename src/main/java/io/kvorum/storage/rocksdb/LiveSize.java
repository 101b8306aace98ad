package io.kvorum.storage.rocksdb;

import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.RocksDBException;
import org.rocksdb.TableProperties;

/**
 * Estimates the size of the entries of a store before compression, from what RocksDB
 * counts anyway. Tables say how large their rows are, those that are overwritten in
 * another table included; RocksDB estimates which part of the tables is live. Memtables
 * only say how many rows they have.
 */
final class LiveSize {

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
		double unflushedBytes = (rows > 0) ? (double) unflushed * raw / rows
				: property(column, "cur-size-active-mem-table");
		return Math.round(raw * live + ((unflushed > 0) ? unflushedBytes : 0));
	}

	private long property(ColumnFamilyHandle column, String name) throws RocksDBException {
		return this.database.db.getLongProperty(column, "rocksdb." + name);
	}

}
