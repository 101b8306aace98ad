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

	/** The nodes of the cluster, and the default number of replicas of a key. */
	public record Topology(List<String> nodes, int replicationFactor) {
	}

}
