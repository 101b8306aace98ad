package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;

import io.kvorum.storage.Durability;

/** Settings of small stores, each with one thing that a test is about. */
final class TestSettings {

	private static final int CACHE_BYTES = 16 << 20;

	private static final int MEMTABLE_BYTES = 8 << 20;

	/** Little, so that rows are overwritten all the time. */
	private static final int ROW_CACHE_BYTES = 64 << 10;

	private static final int READ_QUEUE = 100;

	private static final int RANGE_QUEUE = 10;

	private static final int WRITE_QUEUE = 10_000;

	private static final long WRITE_QUEUE_BYTES = 64 << 20;

	/** Longer than any test: what is scheduled is called by the tests themselves. */
	private static final Duration NEVER = Duration.ofDays(1);

	private static final int FACTOR = 3;

	private TestSettings() {
	}

	static RocksSettings of(Path path) {
		return of(path, Durability.FSYNC);
	}

	static RocksSettings of(Path path, Durability durability) {
		return new RocksSettings(path, durability, CACHE_BYTES, MEMTABLE_BYTES, ROW_CACHE_BYTES, 64, 0, 2, READ_QUEUE,
				RANGE_QUEUE, WRITE_QUEUE, WRITE_QUEUE_BYTES, NEVER, Duration.ofSeconds(30), Duration.ofSeconds(30),
				NEVER, Duration.ZERO, false, FACTOR);
	}

	/** Of a store beside which there are other replicas. */
	static RocksSettings ofReplica(Path path) {
		return new RocksSettings(path, Durability.FSYNC, CACHE_BYTES, MEMTABLE_BYTES, ROW_CACHE_BYTES, 64, 0, 2,
				READ_QUEUE, RANGE_QUEUE, WRITE_QUEUE, WRITE_QUEUE_BYTES, NEVER, Duration.ofSeconds(30),
				Duration.ofSeconds(30), NEVER, Duration.ZERO, true, FACTOR);
	}

	/** Of a store that keeps for so long what has expired. */
	static RocksSettings withExpiryMargin(Path path, Duration margin) {
		return new RocksSettings(path, Durability.FSYNC, CACHE_BYTES, MEMTABLE_BYTES, ROW_CACHE_BYTES, 64, 0, 2,
				READ_QUEUE, RANGE_QUEUE, WRITE_QUEUE, WRITE_QUEUE_BYTES, NEVER, Duration.ofSeconds(30),
				Duration.ofSeconds(30), NEVER, margin, true, FACTOR);
	}

	static RocksSettings withoutRowCache(Path path) {
		return withRowCache(path, 0);
	}

	static RocksSettings withRowCache(Path path, int bytes) {
		return new RocksSettings(path, Durability.FSYNC, CACHE_BYTES, MEMTABLE_BYTES, bytes, 64, 0, 2, READ_QUEUE,
				RANGE_QUEUE, WRITE_QUEUE, WRITE_QUEUE_BYTES, NEVER, Duration.ofSeconds(30), Duration.ofSeconds(30),
				NEVER, Duration.ZERO, false, FACTOR);
	}

	static RocksSettings withCache(Path path, int bytes) {
		return new RocksSettings(path, Durability.FSYNC, bytes, bytes / 2, ROW_CACHE_BYTES, 64, 0, 2, READ_QUEUE,
				RANGE_QUEUE, WRITE_QUEUE, WRITE_QUEUE_BYTES, NEVER, Duration.ofSeconds(30), Duration.ofSeconds(30),
				NEVER, Duration.ZERO, false, FACTOR);
	}

	static RocksSettings withWriteQueue(Path path, int length, long bytes, Duration time) {
		return new RocksSettings(path, Durability.FSYNC, CACHE_BYTES, MEMTABLE_BYTES, ROW_CACHE_BYTES, 64, 0, 2,
				READ_QUEUE, RANGE_QUEUE, length, bytes, time, Duration.ofSeconds(30), Duration.ofSeconds(30), NEVER,
				Duration.ZERO, false, FACTOR);
	}

	static RocksSettings withReadQueue(Path path, int length) {
		return new RocksSettings(path, Durability.FSYNC, CACHE_BYTES, MEMTABLE_BYTES, ROW_CACHE_BYTES, 64, 0, 1, length,
				RANGE_QUEUE, WRITE_QUEUE, WRITE_QUEUE_BYTES, NEVER, Duration.ofSeconds(30), Duration.ofSeconds(30),
				NEVER, Duration.ZERO, false, FACTOR);
	}

	static RocksSettings withMinFreeBytes(Path path, long bytes) {
		return new RocksSettings(path, Durability.FSYNC, CACHE_BYTES, MEMTABLE_BYTES, ROW_CACHE_BYTES, 64, bytes, 2,
				READ_QUEUE, RANGE_QUEUE, WRITE_QUEUE, WRITE_QUEUE_BYTES, NEVER, Duration.ofSeconds(30),
				Duration.ofSeconds(30), NEVER, Duration.ZERO, false, FACTOR);
	}

}
