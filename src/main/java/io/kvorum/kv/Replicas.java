package io.kvorum.kv;

/**
 * The number of replicas that an operation may ask and the number that it waits for.
 *
 * @param ack the replicas that must succeed
 * @param from the first replicas of the key: a write asks all of them, a read as many as
 * it needs
 * @param copies the replicas that are to hold the written entry: {@code from} if the
 * request has it, else the default
 * @param relaxed whether an eventual operation suffices, whatever the numbers are
 */
public record Replicas(int ack, int from, Copies copies, boolean relaxed) {

	public Replicas {
		require(ack, from);
	}

	/** The numbers of an operation that is linearizable if they suffice for that. */
	public Replicas(int ack, int from, Copies copies) {
		this(ack, from, copies, false);
	}

	/** The numbers of a request. */
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

	/** The default of a request: a majority of the replicas. */
	public static Replicas majorityOf(int from) {
		return new Replicas(from / 2 + 1, from, Copies.DEFAULT);
	}

	/** The same numbers for an eventual operation. */
	public Replicas relax() {
		return new Replicas(this.ack, this.from, this.copies, true);
	}

	public boolean isMajority() {
		return this.ack > this.from / 2;
	}

	@Override
	public String toString() {
		return this.ack + "/" + this.from + (this.relaxed ? " eventual" : "");
	}

}
