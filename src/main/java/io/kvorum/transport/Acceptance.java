package io.kvorum.transport;

import java.util.List;

/** Decides which other nodes a node works with. */
@FunctionalInterface
public interface Acceptance {

	/**
	 * Whether a node works with another one.
	 * @param number that of the other node's layout; 0 for that of its configuration
	 * @param topologies the fingerprint of the other node's topology, or those before and
	 * after its change
	 */
	boolean accepts(long number, List<Long> topologies);

}
