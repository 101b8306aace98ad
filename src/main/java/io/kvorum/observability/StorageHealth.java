package io.kvorum.observability;

import java.time.Duration;

import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageException.NoSpace;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import reactor.core.publisher.Mono;

/**
 * Health of the store, by a real synced write. A full disk or a damaged index is only
 * reported: the node stays up, since it still answers reads.
 */
final class StorageHealth implements ReactiveHealthIndicator {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** Time for which probes share a result, so that frequent probes cost no syncs. */
	private static final Duration FRESH = Duration.ofSeconds(1);

	private final PartitionIndex index;

	private final Mono<Health> health;

	StorageHealth(StorageEngine storage, PartitionIndex index) {
		this.index = index;
		this.health = Mono.defer(storage::probe)
			.timeout(TIMEOUT)
			.then(Mono.fromSupplier(() -> of(Health.up(), "accepted")))
			.onErrorResume(NoSpace.class, ex -> Mono.just(of(Health.up(), String.valueOf(ex.getMessage()))))
			.onErrorResume(ex -> Mono.just(of(Health.down(), String.valueOf(ex.getMessage()))))
			.cache(FRESH);
	}

	private Health of(Health.Builder health, String writes) {
		health.withDetail("writes", writes);
		String damage = this.index.damage();
		if (damage != null) {
			health.withDetail("index", damage);
		}
		return health.build();
	}

	@Override
	public Mono<Health> health() {
		return this.health;
	}

}
