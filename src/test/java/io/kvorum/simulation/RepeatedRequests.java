package io.kvorum.simulation;

import io.kvorum.operation.IdempotencyKey;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a history that have an idempotency key and are repeated.
 *
 * @param share of the writes, as a probability
 * @param late requests that are repeated though they were answered, as a probability
 * @param muchLater those of them that are so up to 25 s later, as a probability. What is
 * repeated after the grace of tombstones may undo a deletion: names are kept for less
 */
record RepeatedRequests(double share, double late, double muchLater, Chance chance) {

	static final RepeatedRequests NONE = new RepeatedRequests(0, 0, 0, new Chance(0));

	/** How often a request without an answer is repeated. */
	static final int MOST = 8;

	static RepeatedRequests any(Chance chance) {
		return chance.of(0.75) ? NONE : new RepeatedRequests(chance.of(0.5) ? 0.2 : 0.7, 0.5, 0, chance);
	}

	/** The same without repeats of what was answered. */
	RepeatedRequests onlyOpen() {
		return new RepeatedRequests(this.share, 0, 0, this.chance);
	}

	/** The same, half of whose late repeats come when nodes have changed since. */
	RepeatedRequests afterChanges() {
		return new RepeatedRequests(this.share, this.late, 0.5, this.chance);
	}

	/** A name for a write; null for most. */
	@Nullable IdempotencyKey name(String client, int value, long now) {
		return this.chance.of(this.share) ? new IdempotencyKey(client, value + "-" + now) : null;
	}

	boolean isRepeatedLate() {
		return this.chance.of(this.late);
	}

	long pauseNanos() {
		return this.chance.nanos(1, 60);
	}

	/** The pause before a repeat of what was answered. */
	long latePauseNanos() {
		boolean isMuchLater = this.muchLater > 0 && this.chance.of(this.muchLater);
		return isMuchLater ? this.chance.nanos(1_000, 25_000) : pauseNanos();
	}

}
