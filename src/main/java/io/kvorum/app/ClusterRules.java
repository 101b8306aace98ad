package io.kvorum.app;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import io.kvorum.app.KvorumProperties.Cluster;
import io.kvorum.cluster.ClusterNode;
import io.kvorum.cluster.ReplicaAddress;
import io.kvorum.cluster.Topology;

/** Rules for the addresses of a cluster. */
final class ClusterRules {

	private static final String SELF = "kvorum.cluster.self";

	private static final String JOIN = "kvorum.cluster.join";

	private static final String NODES = "kvorum.cluster.nodes";

	private final List<Violation> violations = new ArrayList<>();

	private final boolean isSecure;

	private ClusterRules(boolean isSecure) {
		this.isSecure = isSecure;
	}

	/** The rules that these properties violate. */
	static List<Violation> violatedBy(Cluster cluster) {
		ClusterRules rules = new ClusterRules(cluster.ssl().bundle() != null);
		rules.checkNodes(NODES, cluster.nodes());
		String self = cluster.self();
		if (self != null) {
			rules.checkSelf(self, cluster.nodes(), cluster.join());
			if (cluster.join() == Cluster.Join.AUTO && cluster.secret() == null) {
				rules.add(JOIN, "auto",
						"must come with kvorum.cluster.secret: anything that reaches the replica port could become a node");
			}
		}
		else if (!cluster.nodes().isEmpty()) {
			rules.add(NODES, cluster.nodes(), "must come with " + SELF + ", the one that is this node");
		}
		return rules.violations;
	}

	private void checkNodes(String property, List<String> nodes) {
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
	}

	private void checkSelf(String self, List<String> nodes, Cluster.Join join) {
		if (join == Cluster.Join.AUTO) {
			parse(SELF, self, ClusterNode::parse);
		}
		else {
			parse(SELF, self, ReplicaAddress::parse);
		}
		if (nodes.isEmpty()) {
			add(SELF, self, "must come with " + NODES + ", the addresses of all nodes, or of some that are to add it");
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
