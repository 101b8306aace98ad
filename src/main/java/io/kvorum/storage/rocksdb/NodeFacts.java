package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Facts that a node stores about itself, as of the opening of the store.
 *
 * @param isNew whether the store had no entries then
 * @param records by name; later ones are added when they are on disk
 */
record NodeFacts(long identity, boolean isNew, long clockBoundMillis, Map<String, byte[]> records) {

	static final byte[] CLOCK_BOUND = bytes("clock-bound");

	static final byte[] PROBE = bytes("probe");

	static final byte[] IDENTITY = bytes("identity");

	private static final String RECORD = "record:";

	/** Reads the facts, and gives a new store an identity. */
	static NodeFacts read(Database database, LongSupplier identities) throws RocksDBException {
		long identity = readLong(database, IDENTITY);
		if (identity == 0) {
			identity = identities.getAsLong();
			database.db.put(database.meta, database.synced, IDENTITY, bytes(identity));
		}
		return new NodeFacts(identity, isEmpty(database), readLong(database, CLOCK_BOUND), readRecords(database));
	}

	private static boolean isEmpty(Database database) {
		try (RocksIterator iterator = database.db.newIterator(database.entries, database.scan)) {
			iterator.seekToFirst();
			// An iterator that meets damage just ends.
			iterator.status();
			return !iterator.isValid();
		}
		catch (RocksDBException _) {
			// A damaged store is not empty; readers of the entries get the error.
			return false;
		}
	}

	private static long readLong(Database database, byte[] name) throws RocksDBException {
		byte[] value = database.db.get(database.meta, name);
		return (value != null) ? ByteBuffer.wrap(value).getLong() : 0;
	}

	private static Map<String, byte[]> readRecords(Database database) throws RocksDBException {
		Map<String, byte[]> records = new ConcurrentHashMap<>();
		byte[] prefix = bytes(RECORD);
		try (RocksIterator iterator = database.db.newIterator(database.meta, database.scan)) {
			for (iterator.seek(prefix); iterator.isValid() && startsWith(iterator.key(), prefix); iterator.next()) {
				byte[] row = iterator.key();
				String name = new String(row, prefix.length, row.length - prefix.length, StandardCharsets.UTF_8);
				records.put(name, iterator.value());
			}
			// An iterator that meets damage just ends.
			iterator.status();
		}
		return records;
	}

	private static boolean startsWith(byte[] row, byte[] prefix) {
		return row.length >= prefix.length && Arrays.mismatch(row, 0, prefix.length, prefix, 0, prefix.length) < 0;
	}

	/** The row of a record. */
	static byte[] rowOf(String name) {
		return bytes(RECORD + name);
	}

	static byte[] bytes(long number) {
		return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
