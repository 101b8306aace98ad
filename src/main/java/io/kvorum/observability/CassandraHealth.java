package io.kvorum.observability;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.kvorum.cassandra.CassandraNode;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import reactor.core.publisher.Mono;

/**
 * Health of the connections to the nodes of Cassandra. Out of service if this gateway
 * reaches none of them; other gateways may.
 */
final class CassandraHealth implements ReactiveHealthIndicator {

	private final Supplier<List<CassandraNode>> nodes;

	CassandraHealth(Supplier<List<CassandraNode>> nodes) {
		this.nodes = nodes;
	}

	@Override
	public Mono<Health> health() {
		return Mono.fromSupplier(() -> {
			Map<String, String> details = new LinkedHashMap<>();
			List<CassandraNode> known = this.nodes.get();
			known.forEach(node -> details.put(node.address(), describe(node)));
			Health.Builder health = known.stream().anyMatch(CassandraNode::isReached) ? Health.up()
					: Health.outOfService();
			return health.withDetail("nodes", details).build();
		});
	}

	private static String describe(CassandraNode node) {
		return node.isUp() ? "there, %d connections".formatted(node.connections()) : "away";
	}

}
