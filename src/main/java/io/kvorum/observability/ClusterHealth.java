package io.kvorum.observability;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.kvorum.layout.LayoutNode;
import io.kvorum.transport.PeerStatus;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import reactor.core.publisher.Mono;

/**
 * Health of the connections to the peers. Up even if peers are away: the node must stay
 * in service, as it serves all that it can.
 * <p>
 * A node is out of service if too few peers accept it for a majority and it has opened no
 * stream since its start. Such a node has another version, topology or secret, or trusts
 * another authority. So is a node that waits to be added to a cluster, or was removed
 * from it. It is not ready, so a rolling update stops here, while the other nodes still
 * are a majority.
 */
final class ClusterHealth implements ReactiveHealthIndicator {

	private final Supplier<List<PeerStatus>> peers;

	private final @Nullable LayoutNode node;

	/**
	 * The health of a node.
	 * @param node null for a node that has no replica address
	 */
	ClusterHealth(Supplier<List<PeerStatus>> peers, @Nullable LayoutNode node) {
		this.peers = peers;
		this.node = node;
	}

	@Override
	public Mono<Health> health() {
		return Mono.fromSupplier(() -> {
			List<PeerStatus> statuses = this.peers.get();
			Map<String, String> details = new LinkedHashMap<>();
			statuses.forEach(peer -> details.put(peer.address(), peer.describe()));
			String outside = (this.node != null) ? this.node.outside() : null;
			Health.Builder health = (outside != null || isRefused(statuses)) ? Health.outOfService() : Health.up();
			if (outside != null) {
				health.withDetail("outside", outside);
			}
			return health.withDetail("peers", details).build();
		});
	}

	/**
	 * Whether so many peers refuse this node, or are refused by it, that no majority is
	 * left, and no stream was open since the start. If only one peer refuses, that peer
	 * may be wrong.
	 */
	private static boolean isRefused(List<PeerStatus> peers) {
		int nodes = peers.size() + 1;
		long left = nodes - peers.stream().filter(PeerStatus::refused).count();
		return left <= nodes / 2 && peers.stream().noneMatch(PeerStatus::everOpen);
	}

}
