package io.kvorum.testing;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for something that comes true by itself, and no longer than it takes. */
public final class Poll {

	private static final long MIN_INTERVAL_MILLIS = 10;

	private static final long MAX_INTERVAL_MILLIS = 100;

	/**
	 * Looks cost the nodes that are waited for their time: a wait gets this part longer.
	 */
	private static final int PART = 10;

	private Poll() {
	}

	/**
	 * Waits until the condition holds.
	 * @param what is waited for, for the message of the failure
	 * @return how long it took
	 * @throws AssertionError if the time is over before
	 */
	public static Duration until(Supplier<String> what, Duration within, BooleanSupplier condition)
			throws InterruptedException {
		long start = System.nanoTime();
		while (!condition.getAsBoolean()) {
			long waited = System.nanoTime() - start;
			if (waited > within.toNanos()) {
				throw new AssertionError("Not within %d ms: %s".formatted(within.toMillis(), what.get()));
			}
			// Between two looks at what has no event to wait for.
			Thread.sleep(
					Math.clamp(TimeUnit.NANOSECONDS.toMillis(waited) / PART, MIN_INTERVAL_MILLIS, MAX_INTERVAL_MILLIS));
		}
		return Duration.ofNanos(System.nanoTime() - start);
	}

}
