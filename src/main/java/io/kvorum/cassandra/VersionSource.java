package io.kvorum.cassandra;

import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Version;

/**
 * Gives identities to writes: the time, or the last one and one more, and the gateway.
 * They tell writes apart and say when they were made. The order of writes is Cassandra's.
 */
final class VersionSource {

	private final TimeSource time;

	private final long gateway;

	private final AtomicLong last = new AtomicLong();

	/**
	 * Creates a source.
	 * @param gateway a number of this process; two processes never have the same
	 */
	VersionSource(TimeSource time, long gateway) {
		this.time = time;
		this.gateway = gateway;
	}

	Version next() {
		long now = this.time.millis() << Version.COUNTER_BITS;
		return new Version(this.last.updateAndGet(last -> Math.max(last + 1, now)), this.gateway);
	}

}
