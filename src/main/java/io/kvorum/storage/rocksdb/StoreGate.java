package io.kvorum.storage.rocksdb;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

import io.kvorum.storage.StorageException.Unavailable;
import org.jspecify.annotations.Nullable;

/**
 * The way into a store, which is closed while the store is not open: a native call after
 * close() ends the JVM.
 * <p>
 * A reader enters before a call and leaves after it, on the same thread. Closing refuses
 * newcomers and waits for those inside. The count of those inside is spread over stripes
 * by thread, so that reading threads do not contend for it. Rejected: a read lock, whose
 * one word all of them would write.
 */
final class StoreGate {

	private static final int STRIPES = 16;

	/** Longs in a cache line, twice: processors fetch them in pairs. */
	private static final int SPACING = 16;

	private final AtomicLongArray inside = new AtomicLongArray(STRIPES * SPACING);

	private volatile @Nullable OpenStore store;

	private volatile boolean open;

	/** Lets writes in, which wait for their committer. */
	void prepare(OpenStore store) {
		this.store = store;
	}

	/** Lets reads in too. */
	void open() {
		this.open = true;
	}

	/** Whether the caller may read; if so, it must {@link #leave()}. */
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

	/** Keeps newcomers out; callers inside go on. */
	void shut() {
		this.store = null;
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

	/** The store; null while it is not open. */
	@Nullable OpenStore storeOrNull() {
		return this.store;
	}

	OpenStore store() {
		OpenStore now = this.store;
		if (now == null) {
			throw notOpen();
		}
		return now;
	}

	static Unavailable notOpen() {
		return new Unavailable("the store is not open");
	}

	private static int stripe() {
		return ((int) Thread.currentThread().threadId() & (STRIPES - 1)) * SPACING;
	}

}
