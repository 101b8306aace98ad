package io.kvorum.backup;

import java.util.List;

/**
 * The node that a backup is of.
 *
 * @param self the replica address of the node
 * @param nodes the replica addresses of all nodes of its cluster, sorted
 * @param factor the replicas of a key by default
 * @param version the version of Kvorum
 */
public record Origin(String self, List<String> nodes, int factor, String version) {

	/** Whether a node would hold the same keys as the other one. */
	boolean hasPlaceOf(Origin other) {
		return this.self.equals(other.self) && this.nodes.equals(other.nodes) && this.factor == other.factor;
	}

	/** A description for people. */
	String describe() {
		return "node %s of %s with kvorum.replication.factor=%d".formatted(this.self, this.nodes, this.factor);
	}

}
