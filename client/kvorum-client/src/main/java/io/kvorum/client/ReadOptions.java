package io.kvorum.client;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * How a value is read. Immutable: each method returns other options.
 */
public final class ReadOptions {

	/** From a majority of the replicas, by one node. */
	public static final ReadOptions DEFAULTS = new ReadOptions(null, null, null);

	private final @Nullable Level level;

	private final @Nullable Duration hedgeAfter;

	private final @Nullable Duration deadline;

	private ReadOptions(@Nullable Level level, @Nullable Duration hedgeAfter, @Nullable Duration deadline) {
		this.level = level;
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
		return new ReadOptions(new Level(ack, from), this.hedgeAfter, this.deadline);
	}

	/**
	 * Asks a second node, too, if the first one has not answered after this time, and
	 * takes what comes first.
	 * @param after about the 95th percentile of the usual latency, so that one of twenty
	 * reads costs twice
	 * @return these options, with hedging
	 */
	public ReadOptions hedgeAfter(Duration after) {
		return new ReadOptions(this.level, Limits.positive("hedgeAfter", after), this.deadline);
	}

	/**
	 * Takes at most this time, with all repeats.
	 * @param deadline other than the client's
	 * @return these options, with that limit
	 */
	public ReadOptions deadline(Duration deadline) {
		return new ReadOptions(this.level, this.hedgeAfter, Limits.positive("deadline", deadline));
	}

	@Nullable Level level() {
		return this.level;
	}

	@Nullable Duration hedgeAfter() {
		return this.hedgeAfter;
	}

	@Nullable Duration deadline() {
		return this.deadline;
	}

}
