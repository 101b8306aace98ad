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
 * The state of each peer. Up even if peers are away: such a node serves all that it can
 * and stays in service.
 * <p>
 * Out of service if this node and its peers refuse each other, and no peer has accepted
 * it since it started. It has another version, list of nodes or secret, or trusts another
 * authority. Since it is not ready, a rolling restart stops here while the other nodes
 * still are a majority.
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
	 * Whether so many peers refuse that no majority is left, and none has accepted this
	 * node since its start. A single peer that refuses may be wrong itself.
	 */
	private static boolean isRefused(List<PeerStatus> peers) {
		int nodes = peers.size() + 1;
		long left = nodes - peers.stream().filter(PeerStatus::refused).count();
		return left <= nodes / 2 && peers.stream().noneMatch(PeerStatus::everOpen);
	}

}
