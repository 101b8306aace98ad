package io.kvorum.storage.rocksdb;

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
		long raw = 0;
		long rows = 0;
		for (TableProperties table : this.database.db.getPropertiesOfAllTables(this.database.entries).values()) {
			raw += table.getRawKeySize() + table.getRawValueSize();
			rows += table.getNumEntries();
		}
		long files = property("total-sst-files-size");
		double live = (files > 0) ? Math.min(1, (double) property("estimate-live-data-size") / files) : 0;
		long unflushed = property("num-entries-active-mem-table") + property("num-entries-imm-mem-tables");
		double unflushedBytes = (rows > 0) ? (double) unflushed * raw / rows : property("cur-size-active-mem-table");
		return Math.round(raw * live + ((unflushed > 0) ? unflushedBytes : 0));
	}

	private long property(String name) throws RocksDBException {
		return this.database.db.getLongProperty(this.database.entries, "rocksdb." + name);
	}

}
