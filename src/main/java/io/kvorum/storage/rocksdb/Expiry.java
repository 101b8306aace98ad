package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;

/** That an entry of a key, in this version, expires at an instant. Ordered by instant. */
record Expiry(long atMillis, Key key, Version version) {

	byte[] toKey() {
		return ByteBuffer.allocate(Long.BYTES + this.key.bytes().length)
			.putLong(this.atMillis)
			.put(this.key.bytes())
			.array();
	}

	byte[] toValue() {
		return ByteBuffer.allocate(2 * Long.BYTES)
			.putLong(this.version.timestamp())
			.putLong(this.version.node())
			.array();
	}

	static Expiry of(byte[] storedKey, byte[] storedValue) {
		ByteBuffer name = ByteBuffer.wrap(storedKey);
		long atMillis = name.getLong();
		byte[] key = new byte[name.remaining()];
		name.get(key);
		ByteBuffer version = ByteBuffer.wrap(storedValue);
		return new Expiry(atMillis, Key.of(key), new Version(version.getLong(), version.getLong()));
	}

	/** The keys of all that expire before this instant are below this one. */
	static byte[] before(long millis) {
		return ByteBuffer.allocate(Long.BYTES).putLong(millis).array();
	}

}
