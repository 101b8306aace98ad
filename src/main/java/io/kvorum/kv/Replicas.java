package io.kvorum.kv;

/**
 * The number of replicas that an operation goes to, and the number that it waits for.
 *
 * @param ack the replicas that must answer
 * @param from the replicas that are asked
 * @param copies the replicas that hold what is written: {@code from} if the request names
 * it, else the default
 */
public record Replicas(int ack, int from, Copies copies) {

	public Replicas {
		require(ack, from);
	}

	/** The numbers that a request names. */
	public Replicas(int ack, int from) {
		this(ack, from, copiesOf(ack, from));
	}

	private static Copies copiesOf(int ack, int from) {
		require(ack, from);
		return Copies.of(from);
	}

	private static void require(int ack, int from) {
		if (ack < 1 || ack > from || from > Entry.MAX_COPIES) {
			throw new IllegalArgumentException(
					"1 <= ack <= from <= %d, not %d/%d".formatted(Entry.MAX_COPIES, ack, from));
		}
	}

	/** A majority of the replicas, which is the default of a request. */
	public static Replicas majorityOf(int from) {
		return new Replicas(from / 2 + 1, from, Copies.DEFAULT);
	}

	public boolean isMajority() {
		return this.ack > this.from / 2;
	}

	@Override
	public String toString() {
		return this.ack + "/" + this.from;
	}

}
