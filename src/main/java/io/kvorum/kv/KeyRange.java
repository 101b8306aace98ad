package io.kvorum.kv;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The keys from {@code start}, inclusive, to {@code end}, exclusive.
 * <p>
 * Bounds are user data: {@link #toString()} does not show them.
 */
public final class KeyRange {

	/** The longest bound, in bytes: the successor of a longest key. */
	public static final int MAX_BOUND_BYTES = Key.MAX_LENGTH_BYTES + 1;

	/** Comes after all keys, which are well-formed UTF-8. */
	private static final byte[] END = { (byte) 0xff };

	private final byte[] start;

	private final byte @Nullable [] end;

	private KeyRange(byte[] start, byte @Nullable [] end) {
		this.start = start;
		this.end = end;
	}

	/**
	 * The range between two bounds, whose arrays must not be changed afterwards. It is
	 * empty if the end comes first.
	 * @param end null if there is no upper bound
	 * @throws IllegalArgumentException if a bound has more than {@value #MAX_BOUND_BYTES}
	 * bytes
	 */
	public static KeyRange of(byte[] start, byte @Nullable [] end) {
		if (start.length > MAX_BOUND_BYTES || (end != null && end.length > MAX_BOUND_BYTES)) {
			throw new IllegalArgumentException("a bound of a range has up to %d bytes".formatted(MAX_BOUND_BYTES));
		}
		return new KeyRange(start, end);
	}

	/** The keys that begin with a prefix, which must not be changed afterwards. */
	public static KeyRange ofPrefix(byte[] prefix) {
		return of(prefix, afterPrefix(prefix));
	}

	/** The first bound after all keys with a prefix; null if there is none. */
	private static byte @Nullable [] afterPrefix(byte[] prefix) {
		int length = prefix.length;
		while (length > 0 && prefix[length - 1] == (byte) 0xff) {
			length--;
		}
		if (length == 0) {
			return null;
		}
		byte[] after = Arrays.copyOf(prefix, length);
		after[length - 1]++;
		return after;
	}

	/** All keys. */
	public static KeyRange all() {
		return new KeyRange(new byte[0], null);
	}

	/** The part of this range that has keys of clients. */
	public KeyRange ofClients() {
		byte[] bound = InternalKeys.bound();
		return (this.end == null || Arrays.compareUnsigned(this.end, bound) > 0) ? new KeyRange(this.start, bound)
				: this;
	}

	/** The lower bound, inclusive; it must not be changed. */
	public byte[] start() {
		return this.start;
	}

	/** The upper bound, exclusive; null if there is none. It must not be changed. */
	public byte @Nullable [] end() {
		return this.end;
	}

	public boolean contains(Key key) {
		return Arrays.compareUnsigned(this.start, key.bytes()) <= 0
				&& (this.end == null || Arrays.compareUnsigned(key.bytes(), this.end) < 0);
	}

	/** The keys that are in both ranges. */
	public KeyRange and(KeyRange other) {
		byte[] later = (Arrays.compareUnsigned(this.start, other.start) >= 0) ? this.start : other.start;
		boolean isOtherFirst = this.end == null
				|| (other.end != null && Arrays.compareUnsigned(other.end, this.end) < 0);
		return new KeyRange(later, isOtherFirst ? other.end : this.end);
	}

	/** Whether all keys of another range are in this one, by the bounds alone. */
	public boolean contains(KeyRange other) {
		return Arrays.compareUnsigned(this.start, other.start) <= 0
				&& (this.end == null || (other.end != null && Arrays.compareUnsigned(other.end, this.end) <= 0));
	}

	/** The rest of this range after all keys with a prefix. */
	public KeyRange afterAll(byte[] prefix) {
		byte[] after = afterPrefix(prefix);
		return and(new KeyRange((after != null) ? after : END, null));
	}

	/** The rest of this range after one of its keys. */
	public KeyRange after(byte[] key) {
		// No key lies between a key and that key with a zero appended.
		return new KeyRange(Arrays.copyOf(key, key.length + 1), this.end);
	}

	@Override
	public String toString() {
		return "KeyRange[from %d bytes%s]".formatted(this.start.length,
				(this.end != null) ? " to " + this.end.length + " bytes" : "");
	}

}
