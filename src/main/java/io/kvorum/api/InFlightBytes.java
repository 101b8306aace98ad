package io.kvorum.api;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of values between the network and the store: bodies on their way in, large
 * values on their way out. Beyond the limit requests are refused, so that the heap is not
 * exhausted.
 */
final class InFlightBytes {

	private final long limit;

	private final AtomicLong reserved = new AtomicLong();

	InFlightBytes(long limit) {
		this.limit = limit;
	}

	/** Reserves memory if there is room; the caller must {@link #release} it. */
	boolean tryReserve(long bytes) {
		if (this.reserved.addAndGet(bytes) <= this.limit) {
			return true;
		}
		this.reserved.addAndGet(-bytes);
		return false;
	}

	/** Whether there is room now; reserves nothing. */
	boolean hasRoomFor(long bytes) {
		return this.reserved.get() + bytes <= this.limit;
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
