package io.kvorum.coordination;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.replication.Alarms;
import reactor.core.publisher.Mono;

/**
 * Decides when a read asks one more replica than it needs, because those it asked take
 * long.
 * <p>
 * The delay is the 99th percentile of reads, at least 1 ms and at most {@code maxDelay}.
 * In the long run it hedges at most {@value #PERCENT} percent of the reads, so that a
 * cluster that is slow under load does not get more. See Dean and Barroso, "The Tail at
 * Scale", 2013.
 */
final class Hedging {

	/** The percentage of reads that may be hedged. */
	private static final int PERCENT = 5;

	/**
	 * The most hedges in a row: as many reads may be under way to a node when it stops.
	 */
	private static final int MAX_BUDGET = 2_000;

	private static final Duration LEAST_DELAY = Duration.ofMillis(1);

	private final Alarms alarms;

	private final Duration maxDelay;

	private final CoordinationEvents events;

	private final Percentile latency;

	/** The hedges that may still be sent, in hundredths. */
	private final AtomicLong budget = new AtomicLong(100L * MAX_BUDGET);

	Hedging(Alarms alarms, Duration maxDelay, CoordinationEvents events) {
		this.alarms = alarms;
		this.maxDelay = maxDelay;
		this.events = events;
		this.latency = new Percentile(99, maxDelay.toNanos());
	}

	/** Completes when a read that begins now has taken long. */
	Mono<Long> alarm() {
		if (this.budget.get() < 100L * MAX_BUDGET) {
			this.budget.addAndGet(PERCENT);
		}
		return this.alarms.after(delay());
	}

	Duration delay() {
		long nanos = Math.max(this.latency.nanos(), LEAST_DELAY.toNanos());
		return Duration.ofNanos(Math.min(nanos, this.maxDelay.toNanos()));
	}

	/** Takes one hedge from the budget; false if none is left. */
	boolean mayHedge() {
		if (this.budget.addAndGet(-100) >= 0) {
			this.events.hedged();
			return true;
		}
		this.budget.addAndGet(100);
		this.events.notHedged();
		return false;
	}

	/** Records how long a round of reads took. */
	void record(long nanos) {
		this.latency.add(nanos);
	}

}
