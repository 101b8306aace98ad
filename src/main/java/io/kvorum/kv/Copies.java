package io.kvorum.kv;

import java.util.stream.IntStream;

/**
 * The number of replicas that hold an entry: a number that its write asked for, or the
 * default of the layout at the moment of the question.
 * <p>
 * There is one instance of each number. {@code ==} compares them, and none is allocated.
 */
public final class Copies {

	/** The default number of the layout; 0 in bytes. */
	public static final Copies DEFAULT;

	private static final int BYTE_MASK = 0xff;

	/** Indexed by number; the default comes first. */
	private static final Copies[] ALL = IntStream.rangeClosed(0, Entry.MAX_COPIES)
		.mapToObj(Copies::new)
		.toArray(Copies[]::new);

	static {
		DEFAULT = ALL[0];
	}

	private final int number;

	private Copies(int number) {
		this.number = number;
	}

	/**
	 * A fixed number, whatever the layout is.
	 * @throws IllegalArgumentException if the number is not 1 to
	 * {@value Entry#MAX_COPIES}
	 */
	public static Copies of(int number) {
		if (number < 1 || number > Entry.MAX_COPIES) {
			throw new IllegalArgumentException(
					"an entry has 1 to %d copies, this one asks for %d".formatted(Entry.MAX_COPIES, number));
		}
		return ALL[number];
	}

	/**
	 * Reads a number that a release without a default stored. It may have been the
	 * default of its time. Too few copies lose data and too many do not, so all numbers
	 * up to the factor mean the default.
	 * @param factor the replicas of a key by default
	 */
	public static Copies ofNumberOrDefault(int number, int factor) {
		return (number <= factor) ? DEFAULT : of(number);
	}

	/** Reads what {@link #toByte()} wrote. */
	public static Copies ofByte(byte stored) {
		return ALL[stored & BYTE_MASK];
	}

	/** The form in which it is stored and sent. */
	public byte toByte() {
		return (byte) this.number;
	}

	/** The number of replicas, where the layout has so many by default. */
	public int orDefault(int byDefault) {
		return (this == DEFAULT) ? byDefault : this.number;
	}

	@Override
	public String toString() {
		return (this == DEFAULT) ? "default" : String.valueOf(this.number);
	}

}
