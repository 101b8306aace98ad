package io.kvorum.storage.rocksdb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryHeader;

/**
 * The layout of the index: the header of each entry, in the order of partitions and then
 * of keys. Numbers are big-endian.
 *
 * <pre>
 *  key    partition 4, key
 *  value  timestamp 8, node 8, copies 1, kind 1
 * </pre>
 *
 * The kind of a live entry is 2, that of a tombstone 3. In rows of store format 1 they
 * are 0 and 1, and the copies are always a number.
 */
final class IndexRow {

	private static final int VALUE_BYTES = 2 * Long.BYTES + 2;

	private static final int NODE = Long.BYTES;

	private static final int COPIES = 2 * Long.BYTES;

	private static final int KIND = COPIES + 1;

	private static final byte TOMBSTONE = 1;

	/** The bit that says that the copies are in the form of {@link Copies}. */
	private static final byte FORMAT_2 = 2;

	private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

	private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

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

	static Key keyOf(byte[] row) {
		return Key.of(Arrays.copyOfRange(row, Integer.BYTES, row.length));
	}

	static byte[] value(Version version, Copies copies, boolean tombstone) {
		byte[] value = new byte[VALUE_BYTES];
		LONG.set(value, 0, version.timestamp());
		LONG.set(value, NODE, version.node());
		value[COPIES] = copies.toByte();
		value[KIND] = (byte) (FORMAT_2 | (tombstone ? TOMBSTONE : 0));
		return value;
	}

	static Version version(byte[] value) {
		return new Version((long) LONG.get(value, 0), (long) LONG.get(value, NODE));
	}

	/**
	 * The copies in a value.
	 * @param factor see {@link Copies#ofNumberOrDefault}
	 */
	static Copies copies(byte[] value, int factor) {
		boolean isFormat1 = (value[KIND] & FORMAT_2) == 0;
		return isFormat1 ? Copies.ofNumberOrDefault(value[COPIES] & 0xff, factor) : Copies.ofByte(value[COPIES]);
	}

	static EntryHeader header(byte[] row, byte[] value, int factor) {
		return new EntryHeader(keyOf(row), version(value), copies(value, factor), (value[KIND] & TOMBSTONE) != 0);
	}

}
