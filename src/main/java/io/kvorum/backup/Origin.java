package io.kvorum.backup;

import java.util.List;

/**
 * Whose backup it is.
 *
 * @param self the replica address of the node
 * @param nodes those of all nodes of its cluster, sorted
 * @param factor replicas of a key by default
 * @param version of Kvorum
 */
public record Origin(String self, List<String> nodes, int factor, String version) {

	/** Whether a node would hold the same keys in the place of the other. */
	boolean hasPlaceOf(Origin other) {
		return this.self.equals(other.self) && this.nodes.equals(other.nodes) && this.factor == other.factor;
	}

	/** For people. */
	String describe() {
		return "node %s of %s with kvorum.replication.factor=%d".formatted(this.self, this.nodes, this.factor);
	}

}
