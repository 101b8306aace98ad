package io.kvorum.convergence.change;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;

/** Receives changes of the nodes, for meters. Called by any thread, one at a time. */
@FunctionalInterface
public interface LayoutEvents {

	/**
	 * This node works with these nodes from now on.
	 * @param self this node, as it is in the topology
	 */
	void became(Topology topology, Member self);

}
