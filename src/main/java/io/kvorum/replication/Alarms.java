package io.kvorum.replication;

import java.time.Duration;

import reactor.core.publisher.Mono;

/** Timers of the caller's executor. */
@FunctionalInterface
public interface Alarms {

	/**
	 * Completes with a value after this time, on the caller's executor. Cancelling is
	 * cheap and leaves nothing behind.
	 */
	Mono<Long> after(Duration time);

}
