package io.kvorum.observability;

import io.kvorum.clock.HybridLogicalClock;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import reactor.core.publisher.Mono;

/**
 * Whether this node may coordinate writes, as far as its clock goes. Always up: such a
 * node still answers reads and stores what others coordinate. Where the clocks of all
 * nodes were set back, taking them out of service would take the reads away, too.
 */
final class ClockHealth implements ReactiveHealthIndicator {

	private final HybridLogicalClock clock;

	private final boolean hasPeers;

	ClockHealth(HybridLogicalClock clock, boolean hasPeers) {
		this.clock = clock;
		this.hasPeers = hasPeers;
	}

	@Override
	public Mono<Health> health() {
		return Mono.fromSupplier(() -> {
			long aheadMillis = this.clock.driftMillis();
			boolean refuses = this.hasPeers && aheadMillis > HybridLogicalClock.MAX_LEAD_MILLIS;
			return Health.up()
				.withDetail("versionsAheadMillis", aheadMillis)
				.withDetail("writes",
						refuses ? "refused: versions are more than %d ms ahead of this node's clock"
							.formatted(HybridLogicalClock.MAX_LEAD_MILLIS) : "accepted")
				.build();
		});
	}

}
