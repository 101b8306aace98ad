package io.kvorum.storage.rocksdb;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.kv.Key;

/**
 * Rows that reads have found in the database, on their way to the {@link RowCache}. Only
 * the committer knows which of them are still the newest; it takes them before a batch,
 * or when so many have come that they are worth waking it.
 */
final class RowFills {

	/** The number of rows that are worth waking the committer. */
	static final int ENOUGH = 64;

	/** About the most that wait, while the committer waits for the disk. */
	private static final int MAX = 2 * ENOUGH;

	private final Queue<Fill> queue = new ConcurrentLinkedQueue<>();

	private final AtomicInteger queued = new AtomicInteger();

	/**
	 * Takes a row, or drops it if too many wait. Called by any thread.
	 * @param asOf the {@link RowCache#now()} before the database was asked
	 * @return whether there are enough now
	 */
	boolean offer(Key key, byte[] row, long asOf) {
		if (this.queued.get() >= MAX) {
			return false;
		}
		this.queue.add(new Fill(key, row, asOf));
		return this.queued.incrementAndGet() >= ENOUGH;
	}

	boolean areEnough() {
		return this.queued.get() >= ENOUGH;
	}

	/** Fills the cache with what waits. By the committer's thread, between batches. */
	void drainTo(RowCache rows) {
		int taken = this.queued.get();
		if (taken == 0) {
			return;
		}
		for (int i = 0; i < taken; i++) {
			// It is there: added first, counted second.
			Fill fill = this.queue.remove();
			rows.fill(fill.key, fill.row, fill.asOf);
		}
		this.queued.addAndGet(-taken);
	}

	private static final class Fill {

		private final Key key;

		private final byte[] row;

		private final long asOf;

		Fill(Key key, byte[] row, long asOf) {
			this.key = key;
			this.row = row;
			this.asOf = asOf;
		}

	}

}
