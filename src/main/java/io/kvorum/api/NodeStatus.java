package io.kvorum.api;

import java.util.List;

/**
 * The status of a node.
 *
 * @param node its identity
 * @param version the version of Kvorum
 * @param topology the cluster as this node knows it
 */
public record NodeStatus(String node, String version, Topology topology) {

	/**
	 * The nodes of the cluster, and the default number of replicas of a key.
	 *
	 * @param layout the number of the layout; 0 for that of the configuration
	 * @param state "moving" while the nodes change, else "stable"
	 */
	public record Topology(long layout, String state, List<String> nodes, int replicationFactor) {
	}

}
