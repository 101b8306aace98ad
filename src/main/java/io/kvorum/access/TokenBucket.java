package io.kvorum.access;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Holds up to {@link Rate#burst()} tokens and regains {@link Rate#perSecond()} each
 * second. Its state is the instant at which it will be full again. This is the generic
 * cell rate algorithm (ITU-T I.371): no timer, no lock, no allocation.
 */
public final class TokenBucket {

	private static final long NANOS_OF_A_SECOND = TimeUnit.SECONDS.toNanos(1);

	private final Rate rate;

	private final long tokenNanos;

	private final long burstNanos;

	private final AtomicLong fullAtNanos;

	/** A full bucket. */
	TokenBucket(Rate rate, long nowNanos) {
		this.rate = rate;
		this.tokenNanos = NANOS_OF_A_SECOND / rate.perSecond();
		this.burstNanos = this.tokenNanos * rate.burst();
		this.fullAtNanos = new AtomicLong(nowNanos);
	}

	/**
	 * Takes a token if there is one. Thread-safe.
	 * @return 0 if it was taken, else the time until there is one, in nanoseconds
	 */
	long take(long nowNanos) {
		while (true) {
			long fullAt = this.fullAtNanos.get();
			long missing = Math.max(0, fullAt - nowNanos) + this.tokenNanos;
			if (missing > this.burstNanos) {
				return missing - this.burstNanos;
			}
			if (this.fullAtNanos.compareAndSet(fullAt, nowNanos + missing)) {
				return 0;
			}
		}
	}

	/** The number of tokens left. */
	public long remaining(long nowNanos) {
		return (this.burstNanos - missingNanos(nowNanos)) / this.tokenNanos;
	}

	/** The time until it is full, in whole seconds. */
	public long secondsUntilFull(long nowNanos) {
		return Math.ceilDiv(missingNanos(nowNanos), NANOS_OF_A_SECOND);
	}

	/** The time an empty bucket takes to fill, in whole seconds. */
	public long windowSeconds() {
		return Math.ceilDiv(this.burstNanos, NANOS_OF_A_SECOND);
	}

	private long missingNanos(long nowNanos) {
		return Math.min(this.burstNanos, Math.max(0, this.fullAtNanos.get() - nowNanos));
	}

	public Rate rate() {
		return this.rate;
	}

}
