package io.kvorum.storage.rocksdb;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

import io.kvorum.storage.StorageException.Unavailable;
import org.jspecify.annotations.Nullable;

/**
 * The gate of a store, which keeps calls out of a closed database: a native call after
 * close() ends the JVM.
 * <p>
 * A caller enters before and leaves after its call, on the same thread. Closing refuses
 * new callers and waits for those inside. The count of those inside is striped by thread,
 * so that threads that only read do not contend for it. Rejected: a read lock, a single
 * word that all of them would write.
 */
final class StoreGate {

	private static final int STRIPES = 16;

	/** The longs in two cache lines, since processors fetch pairs. */
	private static final int SPACING = 16;

	private final AtomicLongArray inside = new AtomicLongArray(STRIPES * SPACING);

	private volatile boolean open;

	private volatile @Nullable OpenStore store;

	/** Admits writes, which wait for their committer. */
	void prepare(OpenStore opened) {
		this.store = opened;
	}

	/** Admits reads too. */
	void open() {
		this.open = true;
	}

	/**
	 * Enters; false if the gate is closed. A caller that has entered must
	 * {@link #leave()}.
	 */
	boolean enter() {
		int stripe = stripe();
		this.inside.getAndIncrement(stripe);
		// Counted before the check: either this thread sees that the gate is closed, or
		// the closing thread sees the count.
		if (this.open) {
			return true;
		}
		this.inside.getAndDecrement(stripe);
		return false;
	}

	void leave() {
		this.inside.getAndDecrement(stripe());
	}

	/**
	 * Refuses writes and new reads; reads that are inside and have the store go on.
	 * {@link #close()} waits for them.
	 */
	void shut() {
		this.store = null;
	}

	/** Refuses reads, and returns when none is inside. */
	void close() {
		this.open = false;
		for (int stripe = 0; stripe < STRIPES; stripe++) {
			while (this.inside.get(stripe * SPACING) != 0) {
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
			}
		}
	}

	/** The open store; null while the store is not open. */
	@Nullable OpenStore openedOrNull() {
		return this.store;
	}

	OpenStore opened() {
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
