package io.kvorum.kv;

import java.util.Arrays;

/**
 * The key of an entry: 1 to {@value #MAX_LENGTH_BYTES} bytes, ordered as unsigned bytes.
 * <p>
 * Keys are user data: {@link #toString()} shows the length and never the bytes.
 */
public final class Key implements Comparable<Key> {

	/** The longest key, in bytes. */
	public static final int MAX_LENGTH_BYTES = 1024;

	private final byte[] bytes;

	private final int hash;

	private Key(byte[] bytes) {
		this.bytes = bytes;
		this.hash = Arrays.hashCode(bytes);
	}

	/**
	 * The key of these bytes, which must not be changed afterwards.
	 * @throws IllegalArgumentException if there are none or more than
	 * {@value #MAX_LENGTH_BYTES}
	 */
	public static Key of(byte[] bytes) {
		if (bytes.length < 1 || bytes.length > MAX_LENGTH_BYTES) {
			throw new IllegalArgumentException(
					"a key has 1 to %d bytes, this one has %d".formatted(MAX_LENGTH_BYTES, bytes.length));
		}
		return new Key(bytes);
	}

	/** The bytes themselves, not a copy; they must not be changed. */
	public byte[] bytes() {
		return this.bytes;
	}

	@Override
	public int compareTo(Key other) {
		return Arrays.compareUnsigned(this.bytes, other.bytes);
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof Key key && this.hash == key.hash && Arrays.equals(this.bytes, key.bytes);
	}

	@Override
	public int hashCode() {
		return this.hash;
	}

	@Override
	public String toString() {
		return "Key[" + this.bytes.length + " bytes]";
	}

}
