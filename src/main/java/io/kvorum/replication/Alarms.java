package io.kvorum.replication;

import java.time.Duration;

import reactor.core.publisher.Mono;

/** Says when time has passed. */
@FunctionalInterface
public interface Alarms {

	/**
	 * Completes with a value after this time, on the caller's executor; cancelling it
	 * costs little and leaves nothing behind.
	 */
	Mono<Long> after(Duration time);

}
