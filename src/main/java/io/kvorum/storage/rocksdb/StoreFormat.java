package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import io.kvorum.storage.StoreOpenException;
import org.rocksdb.RocksDBException;

/**
 * The format of all rows of a store, in every column: one number, kept in {@code meta}
 * and read before anything else. A row itself only says which of the known formats it is
 * in.
 *
 * <pre>
 *  1  no number in meta; copies are always a number
 *  2  copies are a number or the default, in entries, hints, the index and tombstones
 *  3  entries may have a lineage, and there is a column of promises
 *  4  large entries are in a column of their own, of which entries have the beginning
 * </pre>
 *
 * A store of an older format gets this format by one write, whatever its size. Its rows
 * stay as they are until they are written again, and are read by the recorded factor.
 * Rejected: rewriting them at the start, which takes hours and twice the space.
 *
 * @param factor the replicas of a key by default when the store got this format. Numbers
 * in rows of format 1 are read by it.
 */
record StoreFormat(int factor) {

	/** The format that this release writes. */
	static final int CURRENT = 4;

	/** The oldest format with a number in {@code meta}. */
	private static final int OLDEST_NUMBERED = 2;

	/**
	 * The key of the row in {@code meta}. Its value is the format and, from format 2 on,
	 * the factor.
	 */
	static final byte[] ROW = "store-format".getBytes(StandardCharsets.US_ASCII);

	/**
	 * Reads the format of a store, and makes it the current one.
	 * @throws StoreOpenException if this release does not know the format; nothing is
	 * changed
	 */
	static StoreFormat of(Database database, RocksSettings settings) throws RocksDBException {
		byte[] value = database.db.get(database.meta, ROW);
		if (value == null) {
			// New stores and those of format 1 alike.
			return new StoreFormat(settings.factor()).recordIn(database);
		}
		ByteBuffer in = ByteBuffer.wrap(value);
		int number = in.getInt();
		if (number < OLDEST_NUMBERED || number > CURRENT) {
			throw unknown(settings.path(), number);
		}
		StoreFormat format = new StoreFormat(in.getInt());
		return (number == CURRENT) ? format : format.recordIn(database);
	}

	private StoreFormat recordIn(Database database) throws RocksDBException {
		database.db.put(database.meta, database.synced, ROW, toBytes());
		return this;
	}

	private static StoreOpenException unknown(Path path, int found) {
		return new StoreOpenException(
				"The data directory %s has store format %d. This version of Kvorum reads the formats 1 to %d."
					.formatted(path, found, CURRENT),
				Failures.OF_A_NEWER_VERSION);
	}

	byte[] toBytes() {
		return ByteBuffer.allocate(2 * Integer.BYTES).putInt(CURRENT).putInt(this.factor).array();
	}

}
