package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;

/**
 * The expiry of a version of an entry. Stored as a key without a value, ordered by
 * instant: instant, key, version. Two versions of a key that expire at the same instant
 * have an expiry each, so removing one keeps the other.
 */
record Expiry(long atMillis, Key key, Version version) {

	private static final int FIXED_BYTES = 3 * Long.BYTES;

	byte[] toKey() {
		return ByteBuffer.allocate(FIXED_BYTES + this.key.bytes().length)
			.putLong(this.atMillis)
			.put(this.key.bytes())
			.putLong(this.version.timestamp())
			.putLong(this.version.node())
			.array();
	}

	static Expiry of(byte[] stored) {
		ByteBuffer buffer = ByteBuffer.wrap(stored);
		long atMillis = buffer.getLong();
		byte[] key = new byte[stored.length - FIXED_BYTES];
		buffer.get(key);
		return new Expiry(atMillis, Key.of(key), new Version(buffer.getLong(), buffer.getLong()));
	}

	/** The exclusive upper bound of the keys of all expiries before this instant. */
	static byte[] before(long millis) {
		return ByteBuffer.allocate(Long.BYTES).putLong(millis).array();
	}

}
