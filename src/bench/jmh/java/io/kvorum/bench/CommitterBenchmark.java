package io.kvorum.bench;

import java.util.concurrent.TimeUnit;

import io.kvorum.storage.Durability;
import io.kvorum.storage.StorageEvents;
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
 * Measures stores a second, from one caller through the committer to RocksDB's log and
 * back, with a constant number in flight. Values have 32 bytes, over 10,000 keys in turn.
 * <p>
 * A store is counted when it begins, so an iteration may count as many too many as are in
 * flight: make iterations of some seconds.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class CommitterBenchmark {

	private static final int KEYS = 10_000;

	private static final long ROW_CACHE_BYTES = 16 << 20;

	private static final int VALUE_BYTES = 32;

	private static final long CACHE_BYTES = 64 << 20;

	@Param({ "OS", "FSYNC" })
	Durability durability;

	@Param({ "1", "64", "512" })
	int inFlight;

	Keys keys;

	Store store;

	@Setup
	public void open() {
		this.keys = new Keys("store", KEYS);
		this.store = new Store(this.durability, CACHE_BYTES, ROW_CACHE_BYTES, VALUE_BYTES, StorageEvents.NONE);
	}

	@Benchmark
	public void store() throws InterruptedException {
		this.store.store(this.keys.next(), this.inFlight);
	}

	@TearDown(Level.Iteration)
	public void awaitAll() throws InterruptedException {
		this.store.await(0);
	}

	@TearDown
	public void close() {
		this.store.close();
	}

}
