package io.kvorum.kv;

/**
 * How many replicas an operation goes to and how many it waits for.
 *
 * @param ack the replicas that must have answered
 * @param from the replicas that are asked
 */
public record Replicas(int ack, int from) {

	public Replicas {
		if (ack < 1 || ack > from || from > Entry.MAX_COPIES) {
			throw new IllegalArgumentException(
					"1 <= ack <= from <= %d, not %d/%d".formatted(Entry.MAX_COPIES, ack, from));
		}
	}

	/** A majority of the replicas. */
	public static Replicas majorityOf(int from) {
		return new Replicas(from / 2 + 1, from);
	}

	public boolean isMajority() {
		return this.ack > this.from / 2;
	}

	@Override
	public String toString() {
		return this.ack + "/" + this.from;
	}

}
