package io.kvorum.storage.rocksdb;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * For how long something that was asked has not answered. Any threads; in a race it says
 * a little too much or too little.
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

	/** Since the last answer, or since the first question; 0 where none is open. */
	long nanos(long now) {
		return (this.owed.get() > 0) ? Math.max(0, now - this.sinceNanos) : 0;
	}

}
