package io.kvorum.backup;

import java.util.List;

/**
 * The node that a backup was made of.
 *
 * @param self the replica address of the node
 * @param nodes its cluster as {@code kvorum.cluster.nodes} has it: replica addresses,
 * with zone and weight where they have one, sorted
 * @param factor replicas of a key by default
 * @param layout the number of the layout; {@link #UNKNOWN} in backups of format 1, whose
 * nodes have neither zones nor weights
 * @param version of Kvorum
 */
public record Origin(String self, List<String> nodes, int factor, long layout, String version) {

	static final long UNKNOWN = -1;

	/**
	 * Whether both are the same node of the same cluster with the same factor. The
	 * numbers of the layouts and the versions may differ.
	 */
	boolean hasPlaceOf(Origin other) {
		boolean areBare = this.layout == UNKNOWN || other.layout == UNKNOWN;
		return this.self.equals(other.self) && this.factor == other.factor
				&& (areBare ? addresses().equals(other.addresses()) : this.nodes.equals(other.nodes));
	}

	private List<String> addresses() {
		return this.nodes.stream().map(node -> node.replaceFirst("\\?.*", "")).toList();
	}

	/** Describes the node for people. */
	String describe() {
		return "node %s of %s with kvorum.replication.factor=%d".formatted(this.self, this.nodes, this.factor);
	}

}
