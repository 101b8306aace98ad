package io.kvorum.clock;

import java.time.Duration;

/**
 * The instant at which an operation times out. Other nodes are sent the remaining time,
 * since no two nodes have the same clock.
 *
 * @param atNanos the instant, on the scale of {@link TimeSource#nanos()}
 */
public record Deadline(long atNanos) {

	/** A deadline that never passes. */
	public static final Deadline NONE = new Deadline(Long.MAX_VALUE / 2);

	/** A link that is slower than this moves no large entries: bytes per millisecond. */
	private static final long LEAST_RATE = 1000;

	public static Deadline after(TimeSource time, Duration duration) {
		return new Deadline(time.nanos() + duration.toNanos());
	}

	/** When a call that moves so many bytes is given up: later if they are many. */
	public static Deadline ofTransfer(TimeSource time, Duration duration, long bytes) {
		return after(time, duration.plusMillis(bytes / LEAST_RATE));
	}

	/** The remaining time in nanoseconds; zero or less once the deadline has passed. */
	public long remainingNanos(TimeSource time) {
		return this.atNanos - time.nanos();
	}

	public boolean isPast(TimeSource time) {
		return remainingNanos(time) <= 0;
	}

}
