package io.kvorum.testing;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.clock.TimeSource;

/**
 * Time that stands still until a test moves it. Passing time moves both clocks; a jump
 * moves the wall clock only, as an operator or NTP does.
 */
public final class SteeredTime implements TimeSource {

	/** An instant that tests begin at: 2027-01-15T08:00:00Z. */
	public static final long START_MILLIS = 1_800_000_000_000L;

	private final AtomicLong millis = new AtomicLong(START_MILLIS);

	private final AtomicLong nanos = new AtomicLong();

	/** Lets time pass. */
	public void pass(Duration time) {
		this.millis.addAndGet(time.toMillis());
		this.nanos.addAndGet(time.toNanos());
	}

	/** Sets the wall clock forward or, by a negative amount, back. */
	public void jump(Duration by) {
		this.millis.addAndGet(by.toMillis());
	}

	@Override
	public long millis() {
		return this.millis.get();
	}

	@Override
	public long nanos() {
		return this.nanos.get();
	}

}
