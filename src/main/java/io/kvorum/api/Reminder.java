package io.kvorum.api;

import java.util.concurrent.atomic.AtomicLong;

/** Counts what happens between two log lines, of which there is one in an interval. */
final class Reminder {

	private final long intervalNanos;

	private final AtomicLong loggedNanos;

	private final AtomicLong unlogged = new AtomicLong();

	/** The first one is logged at once. */
	Reminder(long intervalNanos, long nowNanos) {
		this.intervalNanos = intervalNanos;
		this.loggedNanos = new AtomicLong(nowNanos - intervalNanos);
	}

	/** Adds one; returns how many are to be logged now, or 0. */
	long add(long nowNanos) {
		this.unlogged.incrementAndGet();
		long logged = this.loggedNanos.get();
		boolean due = nowNanos - logged >= this.intervalNanos && this.loggedNanos.compareAndSet(logged, nowNanos);
		return due ? this.unlogged.getAndSet(0) : 0;
	}

}
