package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.kvorum.storage.Digests;
import org.rocksdb.RocksDBException;

/**
 * The digests of a store that was closed in order, in one row of {@code meta}. They spare
 * the next start the reading of all entries.
 *
 * <pre>
 *  value  sequence number 8, {@link Digests#toBytes()}
 * </pre>
 *
 * The sequence number is RocksDB's as of this row. Each later write makes it greater, and
 * the row counts for nothing from then on. So nothing has to remove it.
 */
final class SavedDigests {

	private static final byte[] ROW = "digests".getBytes(StandardCharsets.US_ASCII);

	/** The digests of seven numbers of copies. With more they are not saved. */
	private static final int MAX_BYTES = 16 << 20;

	private SavedDigests() {
	}

	/** Saves digests of a store to which nothing else is written before it is closed. */
	static void save(Database database, Digests digests) throws RocksDBException {
		byte[] bytes = digests.toBytes();
		if (bytes == null || bytes.length > MAX_BYTES) {
			return;
		}
		byte[] value = ByteBuffer.allocate(Long.BYTES + bytes.length)
			.putLong(database.db.getLatestSequenceNumber() + 1)
			.put(bytes)
			.array();
		database.db.put(database.meta, database.unsynced, ROW, value);
	}

	/** Completes the digests, which are empty, if those of this store were saved. */
	static void load(Database database, Digests digests) throws RocksDBException {
		byte[] value = database.db.get(database.meta, database.scan, ROW);
		if (value != null) {
			ByteBuffer saved = ByteBuffer.wrap(value);
			if (saved.getLong() == database.db.getLatestSequenceNumber()) {
				digests.add(saved);
				digests.completed();
			}
		}
	}

}
