package io.kvorum.coordination;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.replication.Alarms;
import reactor.core.publisher.Mono;

/**
 * Decides when a round of reads asks one more replica than it needs, because those it
 * asked take long. The version round of a write is one too.
 * <p>
 * The delay is the 99th percentile of the rounds of reads on keys, at least 1 ms and at
 * most {@code maxDelay}. In the long run it sends at most {@value #PERCENT} hedges per
 * 100 alarms: a cluster that is slow under load does not get more. See Dean and Barroso,
 * "The Tail at Scale", 2013.
 */
final class Hedging {

	/** The hedges that 100 alarms add to the budget. */
	private static final int PERCENT = 5;

	/**
	 * The most hedges in a row: so many reads may be waiting for a node when it stops.
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

	/**
	 * Completes when a round that begins now has taken long. Each call adds to the
	 * budget.
	 */
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
