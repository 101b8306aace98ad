package io.kvorum.api;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of values between the network and the store: bodies on their way in, large
 * values on their way out. Beyond the limit requests are refused, so that the heap is not
 * exhausted.
 */
final class InFlightBytes {

	/** The length from which a value is a large one. */
	static final int LARGE_VALUE_BYTES = 16 << 10;

	/** The part of the limit that is kept for values that are not large. */
	private static final int PARTS = 8;

	private final long limit;

	/** The limit of large values: a few that arrive slowly do not keep all others out. */
	private final long limitOfLarge;

	private final AtomicLong reserved = new AtomicLong();

	/**
	 * The memory of values.
	 * @param maxValueBytes the length of the largest value, for which there always is
	 * room if nothing else is in flight
	 */
	InFlightBytes(long limit, int maxValueBytes) {
		this.limit = limit;
		this.limitOfLarge = Math.max(limit - limit / PARTS, Math.min(limit, maxValueBytes));
	}

	/** Reserves memory if there is room; the caller must {@link #release} it. */
	boolean tryReserve(long bytes, boolean isLarge) {
		if (this.reserved.addAndGet(bytes) <= limit(isLarge)) {
			return true;
		}
		this.reserved.addAndGet(-bytes);
		return false;
	}

	/** Whether there is room for a value now; reserves nothing. */
	boolean hasRoomFor(long bytes) {
		return this.reserved.get() + bytes <= limit(bytes >= LARGE_VALUE_BYTES);
	}

	private long limit(boolean isLarge) {
		return isLarge ? this.limitOfLarge : this.limit;
	}

	void release(long bytes) {
		this.reserved.addAndGet(-bytes);
	}

	/** The refusal of a request for which there is no room. */
	ProblemException exhausted() {
		return new ProblemException(Problem.notAccepted(
				"%d bytes of values are in flight, the limit is kvorum.api.max-in-flight-size of %d. Try again later."
					.formatted(reserved(), this.limit)));
	}

	long reserved() {
		return this.reserved.get();
	}

}
