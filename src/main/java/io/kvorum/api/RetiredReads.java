package io.kvorum.api;

import java.time.Duration;

import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Reads for gateways that take keys over from this node: from all replicas if all answer
 * at once, else as the request asks. So a gateway also finds a write that was
 * acknowledged by few of them, and a majority has that afterwards: two gateways that take
 * a key over at the same time do not find different entries.
 */
final class RetiredReads {

	/** Of a read of all replicas: what follows has to end in the time of the gateway. */
	private static final Duration PATIENCE = Duration.ofMillis(200);

	/** The time for which not all are asked when one has not answered. */
	private static final Duration PAUSE = Duration.ofSeconds(5);

	private final KeyValueStore store;

	private final TimeSource time;

	private volatile long pausesUntilNanos;

	RetiredReads(KeyValueStore store, TimeSource time) {
		this.store = store;
		this.time = time;
		this.pausesUntilNanos = time.nanos();
	}

	Mono<Live> read(EntityRequest request, OperationObserver observer) {
		Mono<Live> asked = Mono
			.defer(() -> this.store.get(request.key(), request.replicas(), request.timeout(), observer));
		if (this.pausesUntilNanos - this.time.nanos() > 0) {
			return asked;
		}
		int factor = this.store.policy().defaults().from();
		return this.store
			.get(request.key(), new Replicas(factor, factor), shorter(request.timeout()), OperationObserver.NONE)
			.onErrorResume(OperationFailedException.class, _ -> {
				this.pausesUntilNanos = this.time.nanos() + PAUSE.toNanos();
				return asked;
			});
	}

	private static Duration shorter(@Nullable Duration timeout) {
		return (timeout != null && timeout.compareTo(PATIENCE) < 0) ? timeout : PATIENCE;
	}

}
