package io.kvorum.client;

/**
 * How many replicas an operation asks, and waits for, other than the default. A write
 * leaves {@code from} copies. A level below a majority of the default replicas gives up
 * linearizable reads and writes.
 *
 * @param ack the replicas that have to answer
 * @param from the first replicas of the key that are asked
 */
public record Level(int ack, int from) {

	/**
	 * A level.
	 * @throws IllegalArgumentException unless {@code 1 <= ack <= from}
	 */
	public Level {
		if (ack < 1 || ack > from) {
			throw new IllegalArgumentException("1 <= ack <= from, not %d/%d".formatted(ack, from));
		}
	}

	@Override
	public String toString() {
		return this.ack + "/" + this.from;
	}

}
