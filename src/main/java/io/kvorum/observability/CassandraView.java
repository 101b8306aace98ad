package io.kvorum.observability;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.api.ClusterView;
import io.kvorum.cassandra.CassandraConnection;
import io.kvorum.cassandra.CassandraNode;
import reactor.core.publisher.Mono;

/** The nodes of Cassandra, as the driver of this gateway knows them. */
final class CassandraView implements ClusterView {

	private final CassandraConnection connection;

	private final RequestRate requests;

	CassandraView(CassandraConnection connection, RequestRate requests) {
		this.connection = connection;
		this.requests = requests;
	}

	@Override
	public Mono<Map<String, Object>> gather() {
		return Mono.fromSupplier(this::describe);
	}

	private Map<String, Object> describe() {
		List<Map<String, Object>> nodes = new ArrayList<>();
		List<Map<String, Object>> unreachable = new ArrayList<>();
		for (CassandraNode node : this.connection.nodes()) {
			nodes.add(describe(node));
			if (!node.isUp()) {
				unreachable.add(Map.of("address", node.address(), "why", "the driver has no connection to it"));
			}
		}
		Map<String, Object> layout = new LinkedHashMap<>();
		layout.put("version", 0);
		layout.put("state", "stable");
		layout.put("factor", this.connection.replicas());
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("engine", "cassandra");
		described.put("layout", layout);
		described.put("requests", this.requests.describe());
		described.put("nodes", nodes);
		described.put("unreachable", unreachable);
		return described;
	}

	private static Map<String, Object> describe(CassandraNode node) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("node", node.id());
		described.put("address", node.address());
		described.put("zone", node.datacenter() + "/" + node.rack());
		described.put("weight", 1);
		described.put("state", node.isUp() ? "member" : "away");
		described.put("version", "Cassandra " + node.version());
		return described;
	}

}
