package io.kvorum.observability;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.kvorum.transport.PeerStatus;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import reactor.core.publisher.Mono;

/**
 * Which peers are there. Always up: a node whose peers are away is not to be restarted,
 * nor taken out of service, since it serves all that it can.
 */
final class ClusterHealth implements ReactiveHealthIndicator {

	private final Supplier<List<PeerStatus>> peers;

	ClusterHealth(Supplier<List<PeerStatus>> peers) {
		this.peers = peers;
	}

	@Override
	public Mono<Health> health() {
		return Mono.fromSupplier(() -> {
			Map<String, String> details = new LinkedHashMap<>();
			this.peers.get().forEach(peer -> details.put(peer.address(), peer.describe()));
			return Health.up().withDetail("peers", details).build();
		});
	}

}
