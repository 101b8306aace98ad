package io.kvorum.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.Durability;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.rocksdb.RocksSchedulers;
import io.kvorum.storage.rocksdb.RocksSettings;
import io.kvorum.storage.rocksdb.RocksStorage;
import org.jspecify.annotations.Nullable;
import org.springframework.util.FileSystemUtils;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The engine of a node on a directory of its own, and its one caller, the thread of a
 * benchmark. Stores are sent without waiting, up to a number that is in flight.
 */
final class Store implements AutoCloseable {

	/** Parent of the stores, on a disk: {@code /tmp} may be memory. */
	private static final Path BELOW = Path.of(System.getProperty("kvorum.bench.directory", "target/jmh"));

	private static final int READ_THREADS = 4;

	private static final int READ_QUEUE = 256;

	private static final int RANGE_QUEUE = 256;

	private static final int WRITE_QUEUE = 8192;

	private static final long WRITE_QUEUE_BYTES = 32 << 20;

	private static final int COPIES = 3;

	private static final int RANDOM_BYTES = 1 << 20;

	private final Path directory;

	private final Durability durability;

	private final long cacheBytes;

	private final long rowCacheBytes;

	private final StorageEvents events;

	private final Scheduler reads = scheduler("reads", READ_THREADS, READ_QUEUE);

	private final Scheduler ranges = scheduler("ranges", 1, RANGE_QUEUE);

	private final Scheduler repairs = scheduler("repairs", RocksSchedulers.REPAIR_THREADS,
			RocksSchedulers.REPAIR_QUEUE_LENGTH);

	private final OwnLoop loop = new OwnLoop();

	private final byte[] random = new byte[RANDOM_BYTES];

	private final int valueBytes;

	private int nextValue;

	private long lastVersion;

	private int inFlight;

	private @Nullable Throwable failure;

	private RocksStorage engine;

	/** Opens a new store; its cache has at least twice the size of the memtables. */
	Store(Durability durability, long cacheBytes, long rowCacheBytes, int valueBytes, StorageEvents events) {
		new Random(valueBytes).nextBytes(this.random);
		this.valueBytes = valueBytes;
		this.durability = durability;
		this.cacheBytes = cacheBytes;
		this.rowCacheBytes = rowCacheBytes;
		this.events = events;
		try {
			this.directory = Files.createTempDirectory(Files.createDirectories(BELOW), "store-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.engine = open();
	}

	private static Scheduler scheduler(String name, int threads, int queue) {
		return Schedulers.newBoundedElastic(threads, queue, name, 60, true);
	}

	private RocksStorage open() {
		RocksSettings settings = new RocksSettings(this.directory, this.durability, this.cacheBytes,
				this.cacheBytes / 2, this.rowCacheBytes, 512, 0, READ_THREADS, READ_QUEUE, RANGE_QUEUE, WRITE_QUEUE,
				WRITE_QUEUE_BYTES, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1),
				Duration.ofDays(1), Duration.ofDays(1), true, COPIES);
		RocksStorage opened = new RocksStorage(settings, TimeSource.SYSTEM, RendezvousPlacement::hashOf, () -> 1,
				new RocksSchedulers(this.reads, this.ranges, this.repairs), this.loop, this.events, this::fail);
		opened.open();
		return opened;
	}

	/** Writes memtables to tables and begins with an empty cache. */
	void reopen() {
		this.engine.close();
		this.engine = open();
	}

	/**
	 * Stores the next version of a key. Waits only until fewer than so many stores are in
	 * flight.
	 */
	void store(Key key, int maxInFlight) throws InterruptedException {
		await(maxInFlight - 1);
		this.inFlight++;
		Live entry = new Live(new Version(++this.lastVersion, 1), COPIES, Live.NEVER, "application/octet-stream",
				value());
		this.engine.store(key, entry, Deadline.NONE).subscribe(this::stored, this::fail);
	}

	/** A slice of random bytes, so that blocks of a table do not shrink. */
	private Value value() {
		this.nextValue = (this.nextValue + this.valueBytes < RANDOM_BYTES - this.valueBytes)
				? this.nextValue + this.valueBytes : 0;
		return Value.slice(this.random, this.nextValue, this.nextValue + this.valueBytes);
	}

	/** Waits until no more than so many stores are in flight. */
	void await(int remaining) throws InterruptedException {
		while (this.inFlight > remaining) {
			this.loop.runOne();
		}
		if (this.failure != null) {
			throw new IllegalStateException("a store failed", this.failure);
		}
	}

	private void stored(StoreOutcome outcome) {
		this.inFlight--;
		if (outcome != StoreOutcome.STORED) {
			this.failure = new IllegalStateException("a store was " + outcome);
		}
	}

	private void fail(Throwable failed) {
		this.inFlight--;
		this.failure = failed;
	}

	/** Reads the value of a key; waits for it where memory does not have it. */
	@Nullable Entry read(Key key) throws InterruptedException {
		Answer answer = new Answer();
		this.engine.read(key, Deadline.NONE).subscribe(answer::is, answer::failed, answer::ended);
		while (!answer.ended) {
			this.loop.runOne();
		}
		if (answer.failure != null) {
			throw new IllegalStateException("a read failed", answer.failure);
		}
		return answer.entry;
	}

	/** Closes the engine and removes the directory. */
	@Override
	public void close() {
		this.engine.close();
		this.reads.dispose();
		this.ranges.dispose();
		this.repairs.dispose();
		try {
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The answer to a read. */
	private static final class Answer {

		private boolean ended;

		private @Nullable Entry entry;

		private @Nullable Throwable failure;

		void is(Entry entry) {
			this.entry = entry;
		}

		void failed(Throwable failure) {
			this.failure = failure;
			this.ended = true;
		}

		void ended() {
			this.ended = true;
		}

	}

}
