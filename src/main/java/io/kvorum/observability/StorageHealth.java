package io.kvorum.observability;

import java.time.Duration;

import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageException.NoSpace;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import reactor.core.publisher.Mono;

/**
 * Whether the store takes writes: by a real one, synced. A full disk is told but leaves
 * the node up, since it still answers reads.
 */
final class StorageHealth implements ReactiveHealthIndicator {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** Probes in between get the same answer, so that asking often costs no syncs. */
	private static final Duration FRESH = Duration.ofSeconds(1);

	private final Mono<Health> health;

	StorageHealth(StorageEngine storage) {
		this.health = Mono.defer(storage::probe)
			.timeout(TIMEOUT)
			.then(Mono.fromSupplier(() -> Health.up().withDetail("writes", "accepted").build()))
			.onErrorResume(NoSpace.class,
					ex -> Mono.just(Health.up().withDetail("writes", String.valueOf(ex.getMessage())).build()))
			.onErrorResume(ex -> Mono.just(Health.down().withDetail("writes", String.valueOf(ex.getMessage())).build()))
			.cache(FRESH);
	}

	@Override
	public Mono<Health> health() {
		return this.health;
	}

}
