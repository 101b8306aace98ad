package io.kvorum.access;

import java.util.Arrays;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import org.jspecify.annotations.Nullable;

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

	/** The first key after all keys of this prefix; null if there is none. */
	private final byte @Nullable [] successor;

	/** The prefix of these bytes, which must not be changed afterwards. */
	Prefix(byte[] bytes) {
		this.bytes = bytes;
		this.successor = successor(bytes);
	}

	/**
	 * The first key after the prefix: increments the last byte that is not 0xff, and cuts
	 * off the rest.
	 */
	private static byte @Nullable [] successor(byte[] bytes) {
		int length = bytes.length;
		while (length > 0 && bytes[length - 1] == (byte) 0xff) {
			length--;
		}
		if (length == 0) {
			return null;
		}
		byte[] successor = Arrays.copyOf(bytes, length);
		successor[length - 1]++;
		return successor;
	}

	boolean covers(byte[] key) {
		int length = this.bytes.length;
		return key.length >= length && Arrays.equals(key, 0, length, this.bytes, 0, length);
	}

	/**
	 * Whether the whole range lies inside this prefix, by its bounds alone.
	 */
	boolean covers(KeyRange range) {
		byte[] end = range.end();
		return Arrays.compareUnsigned(this.bytes, range.start()) <= 0
				&& (this.successor == null || (end != null && Arrays.compareUnsigned(end, this.successor) <= 0));
	}

	boolean covers(Prefix longer) {
		return covers(longer.bytes);
	}

	boolean isSame(Prefix other) {
		return Arrays.equals(this.bytes, other.bytes);
	}

}
