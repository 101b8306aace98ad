package io.kvorum.testing;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;

/** The placements of tests: to make one takes some milliseconds. */
public final class Placements {

	/** By the fingerprint of their topology. */
	private static final Map<Long, RendezvousPlacement> KNOWN = new ConcurrentHashMap<>();

	private Placements() {
	}

	public static RendezvousPlacement of(Topology topology) {
		return KNOWN.computeIfAbsent(topology.fingerprint(), _ -> new RendezvousPlacement(topology));
	}

}
