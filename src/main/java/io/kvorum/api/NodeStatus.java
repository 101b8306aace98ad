package io.kvorum.api;

import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

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
	 * @param moving what is copied for a change; null without one
	 */
	public record Topology(long layout, String state, List<String> nodes, int replicationFactor,
			@JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Moving moving) {
	}

	/**
	 * What is copied for a change, to all nodes. Sizes are estimates before compression.
	 *
	 * @param remainingSeconds null while nothing arrives
	 */
	public record Moving(long bytes, long movedBytes, long bytesPerSecond,
			@JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Long remainingSeconds) {
	}

}
