package io.kvorum.kv;

import java.util.SortedSet;
import java.util.stream.Collectors;

/**
 * The partitions that keys are spread over by hash, and the slices that partitions make
 * up. A partition has one order of members and is a leaf of the trees that replicas
 * compare. A slice is the unit of remembered repairs.
 */
public final class Partitions {

	private static final int BITS = 18;

	/**
	 * The number of partitions: a power of two, so large that chance spreads them evenly
	 * over members. Nodes must agree on it.
	 */
	public static final int COUNT = 1 << BITS;

	private static final int SLICE_BITS = 6;

	/** The number of consecutive partitions in a slice. */
	public static final int IN_SLICE = 1 << SLICE_BITS;

	/** The number of slices. */
	public static final int SLICES = COUNT / IN_SLICE;

	/** The most partitions that {@link #describe} names. */
	private static final int MAX_NAMED = 10;

	private Partitions() {
	}

	/** The partition of a key with this {@link KeyHash}, below {@link #COUNT}. */
	public static int ofHash(long hash) {
		return (int) hash & (COUNT - 1);
	}

	/** The slice that a partition is in, below {@link #SLICES}. */
	public static int sliceOf(int partition) {
		return partition >>> SLICE_BITS;
	}

	/** The first partition of a slice. */
	public static int firstOf(int slice) {
		return slice << SLICE_BITS;
	}

	/** Describes partitions for people: the first ones, and the number of the rest. */
	public static String describe(SortedSet<Integer> partitions) {
		String first = partitions.stream()
			.limit(MAX_NAMED)
			.map(String::valueOf)
			.collect(Collectors.joining(", ", "[", "]"));
		int more = partitions.size() - MAX_NAMED;
		return (more > 0) ? "%s and %d more".formatted(first, more) : first;
	}

}
