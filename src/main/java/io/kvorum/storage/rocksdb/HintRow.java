package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Hint;

/**
 * The layout of hints: for each node its hints in the order of their versions, and for
 * each node and key the version that waits. So a node has one hint for each key. <pre>
 *  'd', target 8, timestamp 8, node 8, key  →  entry
 *  'k', target 8, key                       →  timestamp 8, node 8, length of the entry 4
 * </pre>
 */
final class HintRow {

	/** The length of the value of a key's row. */
	static final int WAITING_BYTES = 2 * Long.BYTES + Integer.BYTES;

	private static final byte DATA = 'd';

	private static final byte KEY = 'k';

	private static final int PREFIX_BYTES = 1 + Long.BYTES;

	private static final int DATA_FIXED_BYTES = PREFIX_BYTES + 2 * Long.BYTES;

	private HintRow() {
	}

	/** The row of a hint's entry. */
	static byte[] data(long target, Version version, byte[] key) {
		return fromVersion(target, version, key);
	}

	/** The first possible row of a node's hints with this version or a newer one. */
	static byte[] dataFrom(long target, Version version) {
		return fromVersion(target, version, new byte[0]);
	}

	private static byte[] fromVersion(long target, Version version, byte[] key) {
		return ByteBuffer.allocate(DATA_FIXED_BYTES + key.length)
			.put(DATA)
			.putLong(target)
			.putLong(version.timestamp())
			.putLong(version.node())
			.put(key)
			.array();
	}

	/** The inclusive start of the rows of a node's hints. */
	static byte[] dataStart(long target) {
		return prefix(DATA, target);
	}

	/** The exclusive end of the rows of a node's hints. */
	static byte[] dataEnd(long target) {
		return end(DATA, target);
	}

	/** The row that holds the waiting version of a key. */
	static byte[] key(long target, byte[] key) {
		return ByteBuffer.allocate(PREFIX_BYTES + key.length).put(KEY).putLong(target).put(key).array();
	}

	/** The start of the rows of all keys, by node. */
	static byte[] keys() {
		return new byte[] { KEY };
	}

	/** The exclusive end of all rows. */
	static byte[] end() {
		return new byte[] { KEY + 1 };
	}

	static byte[] keysStart(long target) {
		return prefix(KEY, target);
	}

	static byte[] keysEnd(long target) {
		return end(KEY, target);
	}

	private static byte[] prefix(byte kind, long target) {
		return ByteBuffer.allocate(PREFIX_BYTES).put(kind).putLong(target).array();
	}

	private static byte[] end(byte kind, long target) {
		// The next kind follows the last node.
		return (target == -1L) ? new byte[] { (byte) (kind + 1) } : prefix(kind, target + 1);
	}

	/** The target of any row. */
	static long target(byte[] row) {
		return ByteBuffer.wrap(row).getLong(1);
	}

	/** The version of a row with an entry. */
	static Version version(byte[] row) {
		ByteBuffer buffer = ByteBuffer.wrap(row, PREFIX_BYTES, 2 * Long.BYTES);
		return new Version(buffer.getLong(), buffer.getLong());
	}

	/**
	 * The hint in a row.
	 * @param factor as in {@link EntryFormat#fromFormat1}
	 */
	static Hint hint(byte[] row, byte[] entry, int factor) {
		byte[] bytes = new byte[row.length - DATA_FIXED_BYTES];
		System.arraycopy(row, DATA_FIXED_BYTES, bytes, 0, bytes.length);
		Key key = Key.of(bytes);
		return new Hint(target(row), key, EntryFormat.decode(key, EntryFormat.fromFormat1(key, entry, factor)));
	}

	static byte[] waiting(Version version, int length) {
		return ByteBuffer.allocate(WAITING_BYTES)
			.putLong(version.timestamp())
			.putLong(version.node())
			.putInt(length)
			.array();
	}

	/** The length of the key in a key's row. */
	static int keyLength(byte[] row) {
		return row.length - PREFIX_BYTES;
	}

	/** The version in the value of a key's row. */
	static Version waitingVersion(byte[] value) {
		ByteBuffer buffer = ByteBuffer.wrap(value);
		return new Version(buffer.getLong(), buffer.getLong());
	}

	/** The length of the entry in the value of a key's row. */
	static int waitingLength(byte[] value) {
		return ByteBuffer.wrap(value).getInt(2 * Long.BYTES);
	}

}
