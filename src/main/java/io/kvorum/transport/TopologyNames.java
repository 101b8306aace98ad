package io.kvorum.transport;

import java.util.List;
import java.util.stream.Collectors;

import io.kvorum.cluster.Topology;

/**
 * The topologies of a node as other nodes are told of them: the fingerprint of its only
 * one, or of the one before a change and the one after it.
 */
record TopologyNames(String text) {

	private static final String SEPARATOR = "+";

	static TopologyNames of(Topology topology) {
		return new TopologyNames(topology.parts()
			.stream()
			.map(part -> Long.toHexString(part.fingerprint()))
			.collect(Collectors.joining(SEPARATOR)));
	}

	/** Whether the node changes its topology. */
	boolean isChange() {
		return this.text.contains(SEPARATOR);
	}

	/** Whether one of them is the topology with this fingerprint. */
	boolean include(long fingerprint) {
		return List.of(this.text.split("[" + SEPARATOR + "]")).contains(Long.toHexString(fingerprint));
	}

}
