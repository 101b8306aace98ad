package io.kvorum.api;

import java.util.List;

/**
 * What a node says of itself.
 *
 * @param node its identity
 * @param version of Kvorum
 * @param topology the cluster as this node knows it
 */
public record NodeStatus(String node, String version, Topology topology) {

	/**
	 * The nodes of the cluster, and the replicas of a key where a request does not say.
	 */
	public record Topology(List<String> nodes, int replicationFactor) {
	}

}
