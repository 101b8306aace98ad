package io.kvorum.kv;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The keys from {@code start} on, which is in it, up to {@code end}, which is not.
 * <p>
 * Its bounds are data of the users: {@link #toString()} does not tell them.
 */
public final class KeyRange {

	/** The longest bound, in bytes: what comes right after the longest key. */
	public static final int MAX_BOUND_BYTES = Key.MAX_LENGTH_BYTES + 1;

	private final byte[] start;

	private final byte @Nullable [] end;

	private KeyRange(byte[] start, byte @Nullable [] end) {
		this.start = start;
		this.end = end;
	}

	/**
	 * The keys from these bytes on, up to and without those; the arrays must not be
	 * changed afterwards. Empty where the end comes first.
	 * @param end null where there is none
	 * @throws IllegalArgumentException if a bound has more than {@value #MAX_BOUND_BYTES}
	 * bytes
	 */
	public static KeyRange of(byte[] start, byte @Nullable [] end) {
		if (start.length > MAX_BOUND_BYTES || (end != null && end.length > MAX_BOUND_BYTES)) {
			throw new IllegalArgumentException("a bound of a range has up to %d bytes".formatted(MAX_BOUND_BYTES));
		}
		return new KeyRange(start, end);
	}

	/** The range of all keys. */
	public static KeyRange all() {
		return new KeyRange(new byte[0], null);
	}

	/** The first key that may be in it, or a beginning of that; not to be changed. */
	public byte[] start() {
		return this.start;
	}

	/** The first key that is beyond it; null where there is none. Not to be changed. */
	public byte @Nullable [] end() {
		return this.end;
	}

	public boolean contains(Key key) {
		return Arrays.compareUnsigned(this.start, key.bytes()) <= 0
				&& (this.end == null || Arrays.compareUnsigned(key.bytes(), this.end) < 0);
	}

	/** The rest of this range behind one of its keys. */
	public KeyRange after(byte[] key) {
		// No key comes between one and that one with a zero behind it.
		return new KeyRange(Arrays.copyOf(key, key.length + 1), this.end);
	}

	@Override
	public String toString() {
		return "KeyRange[from %d bytes%s]".formatted(this.start.length,
				(this.end != null) ? " to " + this.end.length + " bytes" : "");
	}

}
