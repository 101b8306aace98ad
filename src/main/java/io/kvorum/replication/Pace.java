package io.kvorum.replication;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.TimeSource;
import reactor.core.publisher.Mono;

/** Keeps the work of one caller below a number of bytes per second. */
public final class Pace {

	private final long bytesPerSecond;

	private final TimeSource time;

	private final Alarms alarms;

	/** The instant at which the work so far would be done at that pace. */
	private long dueNanos;

	public Pace(long bytesPerSecond, TimeSource time, Alarms alarms) {
		this.bytesPerSecond = bytesPerSecond;
		this.time = time;
		this.alarms = alarms;
		this.dueNanos = time.nanos();
	}

	/**
	 * Completes when more work may begin.
	 * @param bytes the length of the work that was just done
	 */
	public Mono<Void> afterBytes(long bytes) {
		return Mono.defer(() -> {
			long now = this.time.nanos();
			long nanos = TimeUnit.SECONDS.toNanos(1) * bytes / this.bytesPerSecond;
			// Time that was not used before is lost.
			this.dueNanos = Math.max(this.dueNanos, now) + nanos;
			Duration wait = Duration.ofNanos(this.dueNanos - now);
			return wait.isPositive() ? this.alarms.after(wait).then() : Mono.empty();
		});
	}

}
