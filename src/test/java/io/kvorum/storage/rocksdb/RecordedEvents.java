package io.kvorum.storage.rocksdb;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.storage.StorageEvents;

/** Counts what happens. */
final class RecordedEvents implements StorageEvents {

	final AtomicInteger readsFromRowCache = new AtomicInteger();

	final AtomicInteger readsFromMemory = new AtomicInteger();

	final AtomicInteger readsFromDisk = new AtomicInteger();

	final AtomicInteger overloaded = new AtomicInteger();

	final AtomicInteger unreadable = new AtomicInteger();

	final AtomicInteger outOfSpace = new AtomicInteger();

	final AtomicInteger collected = new AtomicInteger();

	/** The writes in each batch. */
	final List<Integer> batches = new CopyOnWriteArrayList<>();

	@Override
	public void readFromRowCache() {
		this.readsFromRowCache.incrementAndGet();
	}

	@Override
	public void readFromMemory() {
		this.readsFromMemory.incrementAndGet();
	}

	@Override
	public void readFromDisk(long nanos) {
		this.readsFromDisk.incrementAndGet();
	}

	@Override
	public void batchWritten(int writes, long waitedNanos, long writeNanos) {
		this.batches.add(writes);
	}

	@Override
	public void overloaded() {
		this.overloaded.incrementAndGet();
	}

	@Override
	public void unreadable() {
		this.unreadable.incrementAndGet();
	}

	@Override
	public void outOfSpace() {
		this.outOfSpace.incrementAndGet();
	}

	@Override
	public void collected(int entries) {
		this.collected.addAndGet(entries);
	}

}
