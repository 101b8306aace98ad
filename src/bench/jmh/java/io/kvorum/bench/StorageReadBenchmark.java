package io.kvorum.bench;

import java.util.concurrent.TimeUnit;

import io.kvorum.kv.Entry;
import io.kvorum.storage.Durability;
import io.kvorum.storage.StorageEvents;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures a read by one caller that waits for it; values have 1 KiB, and the order of
 * the keys is random. An iteration fails if its reads did not find their answer in its
 * {@link Place}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class StorageReadBenchmark {

	/** Default of a node. */
	private static final long CACHE_BYTES = 64 << 20;

	/** Default of a node. */
	private static final long ROW_CACHE_BYTES = 16 << 20;

	private static final int VALUE_BYTES = 1024;

	private static final int IN_FLIGHT = 512;

	@Param
	Place place;

	private final Paths paths = new Paths();

	Keys keys;

	Store store;

	@Setup
	public void load() throws InterruptedException {
		this.store = new Store(Durability.OS, CACHE_BYTES, (this.place == Place.ROW_CACHE) ? ROW_CACHE_BYTES : 0,
				VALUE_BYTES, this.paths);
		Keys stored = new Keys("read", this.place.stored);
		for (int i = 0; i < stored.count(); i++) {
			this.store.store(stored.next(), IN_FLIGHT);
		}
		this.store.await(0);
		if (this.place.isInTables) {
			this.store.reopen();
		}
		this.keys = new Keys((this.place == Place.ABSENT) ? "none" : "read", this.place.stored, this.place.step);
		for (int i = 0; i < this.keys.count(); i++) {
			check(this.store.read(this.keys.next()));
		}
	}

	private void check(@Nullable Entry entry) {
		if ((entry == null) != (this.place == Place.ABSENT)) {
			throw new IllegalStateException("a key is %s where it is to be %s".formatted(entry, this.place));
		}
	}

	@Setup(Level.Iteration)
	public void countPaths() {
		this.paths.reset();
	}

	@Benchmark
	public @Nullable Entry read() throws InterruptedException {
		return this.store.read(this.keys.next());
	}

	@TearDown(Level.Iteration)
	public void checkPaths() {
		double fromDisk = this.paths.shareFromDisk();
		if (Math.abs(fromDisk - this.place.shareFromDisk) > 0.1) {
			throw new IllegalStateException("of the reads %.0f %% went to the scheduler".formatted(100 * fromDisk));
		}
	}

	@TearDown
	public void close() {
		this.store.close();
	}

	/** Where a read finds its answer. */
	public enum Place {

		/** On the calling thread, in the row cache. */
		ROW_CACHE(10_000, 1, 0, false),

		/** On the calling thread, in the memtable. */
		MEMTABLE(10_000, 1, 0, false),

		/** On the calling thread, in the block cache. */
		CACHE(10_000, 1, 0, true),

		/** On the calling thread: the tables' filters say that the key is absent. */
		ABSENT(10_000, 1, 0, true),

		/**
		 * By a thread of the storage scheduler. Each read takes another block in turn,
		 * and there are more blocks than the block cache holds. The operating system's
		 * page cache usually has them, so no read waits for a disk.
		 */
		SCHEDULER(130_000, 5, 1, true);

		private final int stored;

		/** Reads one stored key of so many in a row: a block has four. */
		private final int step;

		private final double shareFromDisk;

		private final boolean isInTables;

		Place(int stored, int step, double shareFromDisk, boolean isInTables) {
			this.stored = stored;
			this.step = step;
			this.shareFromDisk = shareFromDisk;
			this.isInTables = isInTables;
		}

	}

	/** Counts reads by where they found their answer; one at a time. */
	private static final class Paths implements StorageEvents {

		private long fromMemory;

		private long fromDisk;

		@Override
		public void readFromRowCache() {
			this.fromMemory++;
		}

		@Override
		public void readFromMemory() {
			this.fromMemory++;
		}

		@Override
		public void readFromDisk(long nanos) {
			this.fromDisk++;
		}

		void reset() {
			this.fromMemory = 0;
			this.fromDisk = 0;
		}

		double shareFromDisk() {
			return (double) this.fromDisk / (this.fromMemory + this.fromDisk);
		}

	}

}
