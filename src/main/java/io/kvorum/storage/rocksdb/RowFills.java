package io.kvorum.storage.rocksdb;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.kv.Key;

/**
 * Rows that reads have found in the database, queued for the {@link RowCache}. Only the
 * committer knows which of them are still the newest. It takes them before each batch, or
 * when enough have come to wake it.
 */
final class RowFills {

	/** The number of rows that wakes the committer. */
	static final int ENOUGH = 64;

	/** The most rows that wait, roughly, while the committer waits for the disk. */
	private static final int MAX = 2 * ENOUGH;

	private final Queue<Fill> queue = new ConcurrentLinkedQueue<>();

	private final AtomicInteger queued = new AtomicInteger();

	/**
	 * Queues a row, or drops it if too many wait. By any thread.
	 * @param asOf the value of {@link RowCache#now()} before the read
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

	/**
	 * Moves the queued rows into the cache. By the committer's thread, between batches.
	 */
	void drainTo(RowCache rows) {
		int taken = this.queued.get();
		if (taken == 0) {
			return;
		}
		for (int i = 0; i < taken; i++) {
			// A row is added before it is counted, so it is there.
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
