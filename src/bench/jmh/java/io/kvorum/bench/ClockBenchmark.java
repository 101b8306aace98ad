package io.kvorum.bench;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.ClockBoundException;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Version;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/**
 * Measures a version from a clock that all threads share. Its bounds are not stored, so
 * only the cost of each write remains.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
public class ClockBenchmark {

	private final HybridLogicalClock clock = new HybridLogicalClock(TimeSource.SYSTEM);

	@Setup
	public void start() {
		this.clock.start(1, 0, _ -> CompletableFuture.completedFuture(null)).toCompletableFuture().join();
	}

	@Benchmark
	@Threads(1)
	public Version alone() {
		return next();
	}

	/** Measures two threads that share the clock, in nanoseconds of each. */
	@Benchmark
	@Threads(2)
	public Version twoThreads() {
		return next();
	}

	private Version next() {
		while (true) {
			try {
				return this.clock.next();
			}
			catch (ClockBoundException _) {
				// This machine has paused for longer than the bound is ahead.
				this.clock.extension().toCompletableFuture().join();
			}
		}
	}

}
