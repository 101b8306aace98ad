package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;

import io.kvorum.kv.Partitions;
import io.kvorum.storage.Digests;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The digests of a store that was closed in order, in one row of the index. They spare
 * the next start the reading of all entries.
 *
 * <pre>
 *  value  sequence number 8, {@link Digests#toBytes}
 * </pre>
 *
 * The sequence number is RocksDB's as of this row. Each later write makes it greater, and
 * the row counts for nothing from then on. So nothing has to remove it.
 */
final class SavedDigests {

	private static final Logger logger = LoggerFactory.getLogger(SavedDigests.class);

	/**
	 * Behind all partitions. In {@code meta} its damage would be that of facts without
	 * which no node starts.
	 */
	private static final byte[] ROW = IndexRow.bound(Partitions.COUNT);

	/** The digests of seven numbers of copies. With more they are not saved. */
	private static final int MAX_BYTES = 16 << 20;

	private SavedDigests() {
	}

	/** Saves digests of a store to which nothing else is written before it is closed. */
	static void save(Database database, Digests digests) throws RocksDBException {
		byte[] bytes = digests.toBytes(MAX_BYTES);
		if (bytes == null) {
			return;
		}
		byte[] value = ByteBuffer.allocate(Long.BYTES + bytes.length)
			.putLong(database.db.getLatestSequenceNumber() + 1)
			.put(bytes)
			.array();
		database.db.put(database.index, database.unsynced, ROW, value);
	}

	/**
	 * Completes the digests, which are empty, if those of this store were saved and can
	 * be read.
	 */
	static void load(Database database, Digests digests) throws RocksDBException {
		byte[] value = read(database);
		if (value != null) {
			ByteBuffer saved = ByteBuffer.wrap(value);
			if (saved.getLong() == database.db.getLatestSequenceNumber()) {
				digests.add(saved);
				digests.completed();
			}
		}
	}

	private static byte @Nullable [] read(Database database) throws RocksDBException {
		try {
			return database.db.get(database.index, database.scan, ROW);
		}
		catch (RocksDBException ex) {
			if (!Failures.isDamage(ex)) {
				throw ex;
			}
			logger.warn("The saved digests are damaged, and are rebuilt: {}", ex.getMessage());
			return null;
		}
	}

}
