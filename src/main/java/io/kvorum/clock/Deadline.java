package io.kvorum.clock;

import java.time.Duration;

/**
 * The instant until which a caller waits for an operation. Another node is sent the time
 * that remains, since no two nodes have the same clock.
 *
 * @param atNanos the instant, as {@link TimeSource#nanos()} counts
 */
public record Deadline(long atNanos) {

	/** A deadline so far away that it never passes. */
	public static final Deadline NONE = new Deadline(Long.MAX_VALUE / 2);

	public static Deadline after(TimeSource time, Duration duration) {
		return new Deadline(time.nanos() + duration.toNanos());
	}

	/** The time that remains, in nanoseconds; zero or less after the deadline. */
	public long remainingNanos(TimeSource time) {
		return this.atNanos - time.nanos();
	}

	public boolean isPast(TimeSource time) {
		return remainingNanos(time) <= 0;
	}

}
