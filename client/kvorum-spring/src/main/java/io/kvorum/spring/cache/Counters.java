package io.kvorum.spring.cache;

import java.util.concurrent.atomic.LongAdder;

/** Counts what a cache does. */
final class Counters {

	private final LongAdder hits = new LongAdder();

	private final LongAdder misses = new LongAdder();

	private final LongAdder puts = new LongAdder();

	private final LongAdder evictions = new LongAdder();

	void read(boolean isHit) {
		(isHit ? this.hits : this.misses).increment();
	}

	void put() {
		this.puts.increment();
	}

	void evicted(long keys) {
		this.evictions.add(keys);
	}

	KvorumCacheStatistics snapshot() {
		return new KvorumCacheStatistics(this.hits.sum(), this.misses.sum(), this.puts.sum(), this.evictions.sum());
	}

}
