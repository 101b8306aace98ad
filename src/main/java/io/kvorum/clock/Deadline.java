package io.kvorum.clock;

import java.time.Duration;

/**
 * The instant after which nobody waits for an operation any more. What is sent to another
 * node is the time that remains, since no two nodes have the same clock.
 *
 * @param atNanos the instant, as {@link TimeSource#nanos()} counts
 */
public record Deadline(long atNanos) {

	/** So far away that it never passes. */
	public static final Deadline NONE = new Deadline(Long.MAX_VALUE / 2);

	public static Deadline after(TimeSource time, Duration duration) {
		return new Deadline(time.nanos() + duration.toNanos());
	}

	/** What remains, in nanoseconds; zero or less where it has passed. */
	public long remainingNanos(TimeSource time) {
		return this.atNanos - time.nanos();
	}

	public boolean isPast(TimeSource time) {
		return remainingNanos(time) <= 0;
	}

}
