package io.kvorum.app;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import io.kvorum.app.KvorumProperties.Cluster;
import io.kvorum.cluster.Topology;

/** Rules for the addresses of a cluster. */
final class ClusterRules {

	private static final String SELF = "kvorum.cluster.self";

	private static final String NODES = "kvorum.cluster.nodes";

	private static final String NEXT_NODES = "kvorum.cluster.next-nodes";

	private final List<Violation> violations = new ArrayList<>();

	private final boolean isSecure;

	private ClusterRules(boolean isSecure) {
		this.isSecure = isSecure;
	}

	/** The rules that these properties violate. */
	static List<Violation> violatedBy(Cluster cluster) {
		ClusterRules rules = new ClusterRules(cluster.ssl().bundle() != null);
		Set<ReplicaAddress> nodes = new HashSet<>(rules.checkNodes(NODES, cluster.nodes()));
		nodes.addAll(rules.checkNodes(NEXT_NODES, cluster.nextNodes()));
		String self = cluster.self();
		if (self != null) {
			rules.checkSelf(self, nodes, cluster.nodes(), cluster.nextNodes());
		}
		else if (!cluster.nodes().isEmpty()) {
			rules.add(NODES, cluster.nodes(), "must come with " + SELF + ", the one that is this node");
		}
		if (cluster.nodes().isEmpty() && !cluster.nextNodes().isEmpty()) {
			rules.add(NEXT_NODES, cluster.nextNodes(), "must come with " + NODES + ", the nodes before the change");
		}
		if (nodes.size() > Topology.MAX_MEMBERS) {
			rules.add(NEXT_NODES, nodes.size() + " addresses in both lists", "must be at most " + Topology.MAX_MEMBERS);
		}
		return rules.violations;
	}

	/** Checks the addresses of all nodes and returns the well-formed ones. */
	private Set<ReplicaAddress> checkNodes(String property, List<String> nodes) {
		if (nodes.size() > Topology.MAX_MEMBERS) {
			add(property, nodes.size() + " addresses", "must be at most " + Topology.MAX_MEMBERS);
		}
		Set<ReplicaAddress> addresses = new HashSet<>();
		Set<String> zones = new HashSet<>();
		for (int i = 0; i < nodes.size(); i++) {
			String name = property + "[" + i + "]";
			String text = nodes.get(i);
			parse(name, text, ClusterNode::parse).ifPresent(node -> {
				zones.add(node.zone());
				if (!addresses.add(node.address())) {
					add(name, text, "must not be there twice, remove one");
				}
			});
		}
		if (zones.size() > 1 && zones.contains("")) {
			add(property, nodes, "must give a zone to all nodes, or to none");
		}
		return addresses;
	}

	private void checkSelf(String self, Set<ReplicaAddress> addresses, List<String> nodes, List<String> nextNodes) {
		Optional<ReplicaAddress> address = parse(SELF, self, ReplicaAddress::parse);
		if (nodes.isEmpty()) {
			add(SELF, self, "must come with " + NODES + ", the addresses of all nodes");
		}
		else if (address.isPresent() && !addresses.contains(address.get())) {
			add(SELF, self,
					nextNodes.isEmpty() ? "must be one of %s, which is %s".formatted(NODES, nodes)
							: "must be one of %s, which is %s, or of %s, which is %s".formatted(NODES, nodes,
									NEXT_NODES, nextNodes));
		}
	}

	private <T> Optional<T> parse(String name, String text, Function<String, T> parser) {
		if (!this.isSecure && ReplicaAddress.isSecure(text)) {
			add(name, text, "must begin with http:// where %s is not set: nothing would be encrypted"
				.formatted(ReplicaCertificate.PROPERTY));
			return Optional.empty();
		}
		try {
			return Optional.of(parser.apply(text));
		}
		catch (IllegalArgumentException ex) {
			add(name, text, String.valueOf(ex.getMessage()));
			return Optional.empty();
		}
	}

	private void add(String name, Object value, String rule) {
		this.violations.add(new Violation(name, value.toString(), rule));
	}

}
