package io.kvorum.observability;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

import io.kvorum.clock.HybridLogicalClock;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import reactor.core.publisher.Mono;

/**
 * Health of the clocks: whether writes of this node, or to it, are refused because of a
 * wrong clock. A refusal is reported for {@link HybridLogicalClock#REFUSALS_KEPT}. Always
 * up: the node still answers reads and stores writes of other coordinators. If the clocks
 * of all nodes were set back, out of service would mean no reads at all.
 */
final class ClockHealth implements ReactiveHealthIndicator {

	private final HybridLogicalClock clock;

	private final ClockRefusals refusals;

	private final BooleanSupplier hasPeers;

	ClockHealth(HybridLogicalClock clock, ClockRefusals refusals, BooleanSupplier hasPeers) {
		this.clock = clock;
		this.refusals = refusals;
		this.hasPeers = hasPeers;
	}

	@Override
	public Mono<Health> health() {
		return Mono.fromSupplier(() -> {
			long aheadMillis = this.clock.driftMillis();
			return Health.up()
				.withDetail("versionsAheadMillis", aheadMillis)
				.withDetail("writes", writes(aheadMillis))
				.build();
		});
	}

	private String writes(long aheadMillis) {
		if (this.hasPeers.getAsBoolean() && aheadMillis > HybridLogicalClock.MAX_LEAD_MILLIS) {
			return "refused: versions are more than %d ms ahead of this node's clock"
				.formatted(HybridLogicalClock.MAX_LEAD_MILLIS);
		}
		List<String> refused = new ArrayList<>();
		long leadMillis = this.clock.refusedLeadMillis();
		if (leadMillis > 0) {
			refused.add("versions of other nodes, the last one %d ms ahead of this node's clock".formatted(leadMillis));
		}
		Set<String> peers = this.refusals.peers();
		if (!peers.isEmpty()) {
			refused.add("versions of this node, more than %d ms ahead of the clocks of %s"
				.formatted(HybridLogicalClock.MAX_LEAD_MILLIS, String.join(", ", peers)));
		}
		return refused.isEmpty() ? "accepted" : "refused in part: " + String.join("; ", refused);
	}

}
