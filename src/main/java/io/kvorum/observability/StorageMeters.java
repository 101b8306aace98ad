package io.kvorum.observability;

import java.util.concurrent.TimeUnit;

import io.kvorum.storage.StorageEvents;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** Meters of the storage engine. */
final class StorageMeters implements StorageEvents {

	private final Counter fromRowCache;

	private final Counter fromMemory;

	private final Timer fromDisk;

	private final DistributionSummary batchSize;

	private final Timer waited;

	private final Timer written;

	private final Counter overloaded;

	private final Counter unreadable;

	private final Counter outOfSpace;

	private final Counter collected;

	StorageMeters(MeterRegistry registry) {
		this.fromRowCache = Counter.builder("kvorum.storage.row.cache.reads")
			.description("Reads of recently written or read entries, without a call into the database")
			.register(registry);
		this.fromMemory = Counter.builder("kvorum.storage.memory.reads")
			.description("Reads answered from the memory of the database, without a change of threads")
			.register(registry);
		this.fromDisk = Timer.builder("kvorum.storage.disk.reads")
			.description("Reads on the storage scheduler, including the wait")
			.publishPercentileHistogram()
			.register(registry);
		this.batchSize = DistributionSummary.builder("kvorum.storage.batch.size")
			.description("Writes in a batch")
			.baseUnit("writes")
			.register(registry);
		this.waited = Timer.builder("kvorum.storage.batch.wait")
			.description("Wait of the first write of a batch")
			.register(registry);
		this.written = Timer.builder("kvorum.storage.batch.write")
			.description("Time to write a batch, including the sync")
			.publishPercentileHistogram()
			.register(registry);
		this.overloaded = Counter.builder("kvorum.storage.overloaded")
			.description("Requests refused because a queue was full")
			.register(registry);
		this.unreadable = Counter.builder("kvorum.storage.corruption")
			.description("Stored entries or blocks that could not be read")
			.register(registry);
		this.outOfSpace = Counter.builder("kvorum.storage.no.space")
			.description("Writes refused or failed because the disk was full")
			.register(registry);
		this.collected = Counter.builder("kvorum.storage.expired.collected")
			.description("Expired entries removed from the disk")
			.register(registry);
	}

	@Override
	public void readFromRowCache() {
		this.fromRowCache.increment();
	}

	@Override
	public void readFromMemory() {
		this.fromMemory.increment();
	}

	@Override
	public void readFromDisk(long nanos) {
		this.fromDisk.record(nanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public void batchWritten(int writes, long waitedNanos, long writeNanos) {
		this.batchSize.record(writes);
		this.waited.record(waitedNanos, TimeUnit.NANOSECONDS);
		this.written.record(writeNanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public void overloaded() {
		this.overloaded.increment();
	}

	@Override
	public void unreadable() {
		this.unreadable.increment();
	}

	@Override
	public void outOfSpace() {
		this.outOfSpace.increment();
	}

	@Override
	public void collected(int entries) {
		this.collected.increment(entries);
	}

}
