package io.kvorum.kv;

import java.util.stream.IntStream;

/**
 * The number of replicas that are to hold an entry. Its write asks for a number, or
 * leaves it to the default of the cluster at the time of use.
 * <p>
 * Each number has one instance: {@code ==} compares them, and none is allocated.
 */
public final class Copies {

	/** The default of the cluster; the byte 0. */
	public static final Copies DEFAULT;

	private static final int BYTE_MASK = 0xff;

	/** Instances by number; 0 is the default. */
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
	 * This number, whatever the default is.
	 * @throws IllegalArgumentException if it is not 1 to {@value Entry#MAX_COPIES}
	 */
	public static Copies of(int number) {
		if (number < 1 || number > Entry.MAX_COPIES) {
			throw new IllegalArgumentException(
					"an entry has 1 to %d copies, this one asks for %d".formatted(Entry.MAX_COPIES, number));
		}
		return ALL[number];
	}

	/**
	 * The meaning of a number that a release without a default has stored: it may be the
	 * default of that time. Too few copies lose data and too many do not, so every number
	 * up to the factor means the default.
	 * @param factor the replicas of a key by default
	 */
	public static Copies ofNumberOrDefault(int number, int factor) {
		return (number <= factor) ? DEFAULT : of(number);
	}

	/** The copies that {@link #toByte()} turned into this byte. */
	public static Copies ofByte(byte stored) {
		return ALL[stored & BYTE_MASK];
	}

	/** The form in which it is stored and sent. */
	public byte toByte() {
		return (byte) this.number;
	}

	/** The number of replicas, given the default of the cluster. */
	public int orDefault(int byDefault) {
		return (this == DEFAULT) ? byDefault : this.number;
	}

	@Override
	public String toString() {
		return (this == DEFAULT) ? "default" : String.valueOf(this.number);
	}

}
