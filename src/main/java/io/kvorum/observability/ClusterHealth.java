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
 * Which peers are there. Up with peers that are away, too: such a node is not to be taken
 * out of service, since it serves all that it can.
 * <p>
 * Not in service is one that peers refuse, or that refuses them, and that none has taken
 * since it started: it is of another version, list of nodes or secret, or trusts another
 * authority. With it not ready, whoever restarts one node after the other stops at this
 * one, while the others still are a majority.
 */
final class ClusterHealth implements ReactiveHealthIndicator {

	private final Supplier<List<PeerStatus>> peers;

	ClusterHealth(Supplier<List<PeerStatus>> peers) {
		this.peers = peers;
	}

	@Override
	public Mono<Health> health() {
		return Mono.fromSupplier(() -> {
			List<PeerStatus> statuses = this.peers.get();
			Map<String, String> details = new LinkedHashMap<>();
			statuses.forEach(peer -> details.put(peer.address(), peer.describe()));
			return (isRefused(statuses) ? Health.outOfService() : Health.up()).withDetail("peers", details).build();
		});
	}

	/**
	 * By so many that no majority is left, and taken by none since the start. One peer
	 * that refuses may be wrong itself.
	 */
	private static boolean isRefused(List<PeerStatus> peers) {
		int nodes = peers.size() + 1;
		long left = nodes - peers.stream().filter(PeerStatus::refused).count();
		return left <= nodes / 2 && peers.stream().noneMatch(PeerStatus::taken);
	}

}
