package io.kvorum.access;

import java.util.Arrays;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;

/**
 * The keys that begin with some bytes; all keys if there are none.
 * <p>
 * Compares bytes after the one decoding of the path: {@code %2e} and {@code .} are the
 * same byte.
 */
final class Prefix {

	/** All keys. */
	static final Prefix NONE = new Prefix(new byte[0]);

	static final int MAX_LENGTH_BYTES = Key.MAX_LENGTH_BYTES;

	private final byte[] bytes;

	private final KeyRange keys;

	/** The prefix of these bytes, which must not be changed afterwards. */
	Prefix(byte[] bytes) {
		this.bytes = bytes;
		this.keys = KeyRange.ofPrefix(bytes);
	}

	boolean covers(byte[] key) {
		int length = this.bytes.length;
		return key.length >= length && Arrays.equals(key, 0, length, this.bytes, 0, length);
	}

	/**
	 * Whether the whole range lies inside this prefix, by its bounds alone.
	 */
	boolean covers(KeyRange range) {
		return this.keys.contains(range);
	}

	boolean covers(Prefix longer) {
		return covers(longer.bytes);
	}

	boolean isSame(Prefix other) {
		return Arrays.equals(this.bytes, other.bytes);
	}

}
