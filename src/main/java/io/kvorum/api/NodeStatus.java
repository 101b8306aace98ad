package io.kvorum.api;

import java.util.List;
import java.util.Map;

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
	 * @param moving what is copied for a change, in bytes and seconds; null without one
	 */
	public record Topology(long layout, String state, List<String> nodes, int replicationFactor,
			@JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Map<String, Object> moving) {
	}

}
