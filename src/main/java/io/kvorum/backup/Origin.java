package io.kvorum.backup;

import java.util.List;

/**
 * The node that a backup was made of.
 *
 * @param self the replica address of the node
 * @param nodes replica addresses of its cluster, sorted
 * @param factor replicas of a key by default
 * @param version of Kvorum
 */
public record Origin(String self, List<String> nodes, int factor, String version) {

	/**
	 * Whether both are the same node of the same cluster with the same factor. The
	 * versions may differ.
	 */
	boolean hasPlaceOf(Origin other) {
		return this.self.equals(other.self) && this.nodes.equals(other.nodes) && this.factor == other.factor;
	}

	/** Describes the node for people. */
	String describe() {
		return "node %s of %s with kvorum.replication.factor=%d".formatted(this.self, this.nodes, this.factor);
	}

}
