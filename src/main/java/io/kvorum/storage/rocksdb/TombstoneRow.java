package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.TombstoneRecord;

/**
 * The layout of tombstones that may be removed one day: in the order of their versions,
 * so that old ones are found without reading the others. A row whose entry is overwritten
 * stays until it is collected, so overwriting a tombstone needs no extra delete.
 *
 * <pre>
 *  key    timestamp 8, node 8, key
 *  value  copies 1, arrival on this node 8 (milliseconds since 1970)
 * </pre>
 *
 * The copies in this row are not used. In rows of store format 1 they are a number, and
 * are read as one.
 */
final class TombstoneRow {

	private static final int FIXED_BYTES = 2 * Long.BYTES;

	/** The largest physical part of a version; later instants are behind all versions. */
	private static final long MAX_MILLIS = (1L << (Long.SIZE - Version.COUNTER_BITS)) - 1;

	private TombstoneRow() {
	}

	static byte[] key(Version version, byte[] key) {
		return ByteBuffer.allocate(FIXED_BYTES + key.length)
			.putLong(version.timestamp())
			.putLong(version.node())
			.put(key)
			.array();
	}

	/** The exclusive upper bound of the rows of all versions before this instant. */
	static byte[] before(long millis) {
		return ByteBuffer.allocate(Long.BYTES)
			.putLong(Math.clamp(millis, 0, MAX_MILLIS) << Version.COUNTER_BITS)
			.array();
	}

	static byte[] value(Copies copies, long sinceMillis) {
		return ByteBuffer.allocate(1 + Long.BYTES).put(copies.toByte()).putLong(sinceMillis).array();
	}

	static TombstoneRecord tombstone(byte[] row, byte[] value) {
		ByteBuffer buffer = ByteBuffer.wrap(row);
		Version version = new Version(buffer.getLong(), buffer.getLong());
		byte[] key = new byte[buffer.remaining()];
		buffer.get(key);
		ByteBuffer rest = ByteBuffer.wrap(value);
		return new TombstoneRecord(new EntryHeader(Key.of(key), version, Copies.ofByte(rest.get()), true),
				rest.getLong());
	}

}
