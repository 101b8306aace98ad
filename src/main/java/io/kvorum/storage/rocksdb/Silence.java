package io.kvorum.storage.rocksdb;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The time for which the disk has not answered. Thread-safe; in a race it is slightly too
 * long or too short.
 */
final class Silence {

	private final AtomicInteger owed = new AtomicInteger();

	private volatile long sinceNanos;

	void asked(long now) {
		if (this.owed.getAndIncrement() == 0) {
			this.sinceNanos = now;
		}
	}

	void answered(long now) {
		this.owed.decrementAndGet();
		this.sinceNanos = now;
	}

	/**
	 * The nanoseconds since the last answer, or since the first open question; 0 if none
	 * is open.
	 */
	long nanos(long now) {
		return (this.owed.get() > 0) ? Math.max(0, now - this.sinceNanos) : 0;
	}

}
