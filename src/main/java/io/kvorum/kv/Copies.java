package io.kvorum.kv;

import java.util.stream.IntStream;

/**
 * How many replicas are to hold an entry: a number that its write asked for, or as many
 * as the layout of the cluster has by default at the time of asking.
 * <p>
 * There is one instance of each, so that {@code ==} compares them and none is allocated.
 */
public final class Copies {

	/** As many as the layout has by default. In bytes it is 0. */
	public static final Copies DEFAULT;

	private static final int BYTE_MASK = 0xff;

	/** By number; the default comes first. */
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
	 * So many, whatever the layout is.
	 * @throws IllegalArgumentException if that is not 1 to {@value Entry#MAX_COPIES}
	 */
	public static Copies of(int number) {
		if (number < 1 || number > Entry.MAX_COPIES) {
			throw new IllegalArgumentException(
					"an entry has 1 to %d copies, this one asks for %d".formatted(Entry.MAX_COPIES, number));
		}
		return ALL[number];
	}

	/**
	 * What a number means that a release without a default has stored: it may have been
	 * the default of that time. Too few copies lose data and too many do not, so that all
	 * numbers up to the factor mean the default.
	 * @param factor the replicas of a key by default
	 */
	public static Copies ofNumberOrDefault(int number, int factor) {
		return (number <= factor) ? DEFAULT : of(number);
	}

	/** What {@link #toByte()} has made a byte of. */
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
