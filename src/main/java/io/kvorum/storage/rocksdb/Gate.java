package io.kvorum.storage.rocksdb;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps calls out of a closed database: a native call after close() ends the JVM.
 * <p>
 * A caller enters before a call and leaves after it, on the same thread. Closing refuses
 * newcomers and waits for those inside. The count of those inside is spread over stripes
 * by thread, so that reading threads do not contend for it. Rejected: a read lock, whose
 * one word all of them would write.
 */
final class Gate {

	private static final int STRIPES = 16;

	/** Longs in a cache line, twice: processors fetch them in pairs. */
	private static final int SPACING = 16;

	private final AtomicLongArray inside = new AtomicLongArray(STRIPES * SPACING);

	private volatile boolean open;

	void open() {
		this.open = true;
	}

	/** Whether the caller may go on; if so, it must {@link #leave()}. */
	boolean enter() {
		int stripe = stripe();
		this.inside.getAndIncrement(stripe);
		// Count first, look second: either this thread sees that the gate is closed, or
		// the closing thread sees this one.
		if (this.open) {
			return true;
		}
		this.inside.getAndDecrement(stripe);
		return false;
	}

	void leave() {
		this.inside.getAndDecrement(stripe());
	}

	/** Returns when no caller is inside and none can enter. */
	void close() {
		this.open = false;
		for (int stripe = 0; stripe < STRIPES; stripe++) {
			while (this.inside.get(stripe * SPACING) != 0) {
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
			}
		}
	}

	private static int stripe() {
		return ((int) Thread.currentThread().threadId() & (STRIPES - 1)) * SPACING;
	}

}
