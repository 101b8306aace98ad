package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.TombstoneRecord;

/**
 * The layout of the tombstones that may be removed one day: in the order of their
 * versions, so that the old ones are found without reading the others. A row whose entry
 * is overwritten stays until it is removed, so the overwriting write need not care.
 *
 * <pre>
 *  key    timestamp 8, node 8, key
 *  value  copies 1, since when it is here 8 (milliseconds since 1970)
 * </pre>
 *
 * The copies in this row are not used. In rows of store format 1 they are a number, and
 * are read as such.
 */
final class TombstoneRow {

	private static final int FIXED_BYTES = 2 * Long.BYTES;

	/**
	 * The greatest physical part of a version; a later instant is behind all versions.
	 */
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

	/** The rows of all versions before this instant are below this one. */
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
