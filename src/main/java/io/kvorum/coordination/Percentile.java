package io.kvorum.coordination;

/**
 * Estimates a percentile of durations with a single number. A sample above the estimate
 * raises it by a step, one below lowers it by a smaller step. The steps balance at the
 * percentile.
 * <p>
 * This is the "frugal" estimator of Ma, Muthukrishnan and Sandler, "Frugal Streaming for
 * Estimating Quantiles", 2014, with steps in proportion to the estimate.
 * <p>
 * Any thread may call it. Samples that arrive at the same time may get lost.
 */
final class Percentile {

	/**
	 * The divisor of the estimate in a step. A step up is the quotient times {@code
	 * percent}, a step down the quotient times {@code 100 - percent}.
	 */
	private static final int PARTS = 2_000;

	private static final long LEAST_NANOS = 1_000;

	private final int percent;

	private volatile long nanos;

	Percentile(int percent, long firstNanos) {
		this.percent = percent;
		this.nanos = firstNanos;
	}

	void add(long sample) {
		long estimate = this.nanos;
		long step = Math.max(1, estimate / PARTS);
		long next = (sample > estimate) ? estimate + step * this.percent : estimate - step * (100 - this.percent);
		if (next != estimate) {
			this.nanos = Math.max(LEAST_NANOS, next);
		}
	}

	long nanos() {
		return this.nanos;
	}

}
