package io.kvorum.transport;

import java.util.concurrent.TimeUnit;

/**
 * Expected latency of the next read of a peer: a moving average of the last reads. It
 * decays with age, so a peer that was slow once is tried again. Written on one event
 * loop.
 */
final class ExpectedLatency {

	/** Divisor of the difference by which a sample changes the average. */
	private static final int PARTS = 8;

	private static final long HALF_LIFE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private long averageNanos;

	private long sampledNanos;

	void add(long nanos, long now) {
		this.averageNanos += (nanos - this.averageNanos) / PARTS;
		this.sampledNanos = now;
	}

	long nanos(long now) {
		long halvings = Math.clamp((now - this.sampledNanos) / HALF_LIFE_NANOS, 0, Long.SIZE - 1);
		return this.averageNanos >> halvings;
	}

}
