package io.kvorum.cli;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/**
 * The requests of one kind by one thread, which alone counts here. Of very many times a
 * random part is kept, and the longest one always.
 */
final class BenchTimes {

	private final SplittableRandom random = new SplittableRandom();

	private final long[] nanos;

	private long count;

	private long slowest;

	private long failures;

	private String failure = "";

	BenchTimes(int kept) {
		this.nanos = new long[kept];
	}

	void answered(long time) {
		long place = (this.count < this.nanos.length) ? this.count : this.random.nextLong(this.count + 1);
		if (place < this.nanos.length) {
			this.nanos[(int) place] = time;
		}
		this.count++;
		this.slowest = Math.max(this.slowest, time);
	}

	void failed(String why) {
		this.failures++;
		this.failure = why;
	}

	long count() {
		return this.count;
	}

	long failures() {
		return this.failures;
	}

	/** Why the last one has failed; empty if none has. */
	String failure() {
		return this.failure;
	}

	long slowest() {
		return this.slowest;
	}

	static long slowest(List<BenchTimes> parts) {
		return parts.stream().mapToLong(BenchTimes::slowest).max().orElse(0);
	}

	LongStream kept() {
		return Arrays.stream(this.nanos, 0, (int) Math.min(this.count, this.nanos.length));
	}

}
