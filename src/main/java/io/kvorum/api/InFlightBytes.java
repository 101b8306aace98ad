package io.kvorum.api;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that values take between the network and the store: bodies on their way in,
 * large values on their way out. Beyond the limit requests are shed, rather than the heap
 * exhausted.
 */
final class InFlightBytes {

	private final long limit;

	private final AtomicLong reserved = new AtomicLong();

	InFlightBytes(long limit) {
		this.limit = limit;
	}

	/** Whether there was room; whoever reserves must {@link #release}. */
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

	/** The refusal where there was no room. */
	ProblemException exhausted() {
		return new ProblemException(Problem.notAccepted(
				"%d bytes of values are in flight, the limit is kvorum.api.max-in-flight-size of %d. Try again later."
					.formatted(reserved(), this.limit)));
	}

	long reserved() {
		return this.reserved.get();
	}

}
