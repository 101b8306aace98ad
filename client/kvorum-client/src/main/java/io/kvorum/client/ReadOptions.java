package io.kvorum.client;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * How a value is read. Immutable: each method returns other options.
 */
public final class ReadOptions {

	/** From a majority of the replicas, by one node. */
	public static final ReadOptions DEFAULTS = new ReadOptions(Consistency.DEFAULT, null, null);

	private final Consistency consistency;

	private final @Nullable Duration hedgeAfter;

	private final @Nullable Duration deadline;

	private ReadOptions(Consistency consistency, @Nullable Duration hedgeAfter, @Nullable Duration deadline) {
		this.consistency = consistency;
		this.hedgeAfter = hedgeAfter;
		this.deadline = deadline;
	}

	/**
	 * Waits for other replicas than a majority of the default ones.
	 * @param ack the replicas that have to answer
	 * @param from the first replicas of the key that may be asked
	 * @return these options, at that level
	 */
	public ReadOptions level(int ack, int from) {
		return new ReadOptions(this.consistency.at(new Level(ack, from)), this.hedgeAfter, this.deadline);
	}

	/**
	 * May miss what was written just before. In front of Cassandra that is several times
	 * cheaper; a cluster of Kvorum gains nothing by it.
	 * @return these options, without an order among operations
	 */
	public ReadOptions eventual() {
		return new ReadOptions(this.consistency.eventual(), this.hedgeAfter, this.deadline);
	}

	/**
	 * Asks a second node, too, if the first one has not answered after this time, and
	 * takes what comes first.
	 * @param after about the 95th percentile of the usual latency, so that one of twenty
	 * reads costs twice
	 * @return these options, with hedging
	 */
	public ReadOptions hedgeAfter(Duration after) {
		return new ReadOptions(this.consistency, Limits.positive("hedgeAfter", after), this.deadline);
	}

	/**
	 * Takes at most this time, with all repeats.
	 * @param deadline other than the client's
	 * @return these options, with that limit
	 */
	public ReadOptions deadline(Duration deadline) {
		return new ReadOptions(this.consistency, this.hedgeAfter, Limits.positive("deadline", deadline));
	}

	Consistency consistency() {
		return this.consistency;
	}

	@Nullable Duration hedgeAfter() {
		return this.hedgeAfter;
	}

	@Nullable Duration deadline() {
		return this.deadline;
	}

}
