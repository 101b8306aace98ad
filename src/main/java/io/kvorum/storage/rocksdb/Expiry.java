package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;

/**
 * The expiry of an entry of a key, in this version, at an instant. It is stored as a key
 * without a value, in the order instant, key, version. The version keeps two versions of
 * a key apart that expire at the same instant, so that one can be dropped.
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

	/** The keys of all that expire before this instant are below this one. */
	static byte[] before(long millis) {
		return ByteBuffer.allocate(Long.BYTES).putLong(millis).array();
	}

}
