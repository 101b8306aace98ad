package io.kvorum.storage.rocksdb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The layout of the index: the keys of all entries, in the order of partitions and then
 * of keys.
 *
 * <pre>
 *  key    partition 4, key
 *  value  nothing
 * </pre>
 *
 * Behind them are the {@link SavedDigests}. The partition is big-endian. What the entry
 * of a key is, its head tells. So a row is written when a key is new and removed with its
 * entry, and a write that replaces an entry does not touch it. Rows of older releases
 * have a value, which counts for nothing.
 */
final class IndexRow {

	/** The value of all rows. */
	static final byte[] VALUE = {};

	private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

	private IndexRow() {
	}

	static byte[] key(int partition, byte[] key) {
		byte[] row = new byte[Integer.BYTES + key.length];
		INT.set(row, 0, partition);
		System.arraycopy(key, 0, row, Integer.BYTES, key.length);
		return row;
	}

	/**
	 * The inclusive start of a partition's rows; the exclusive end of those of the
	 * partition before.
	 */
	static byte[] bound(int partition) {
		return ByteBuffer.allocate(Integer.BYTES).putInt(partition).array();
	}

	static int partitionOf(byte[] row) {
		return (int) INT.get(row, 0);
	}

	static byte[] keyOf(byte[] row) {
		return Arrays.copyOfRange(row, Integer.BYTES, row.length);
	}

}
