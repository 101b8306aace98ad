package io.kvorum.cluster;

import java.util.List;

import io.kvorum.kv.Key;

/** The part of a placement that a coordinator needs: the members that hold a key. */
@FunctionalInterface
public interface Placement {

	/**
	 * The first members in the order of this key. Every node gives the same answer, and
	 * the list for fewer members is the beginning of the list for more.
	 * @param from how many, 1 to the size of the topology
	 * @return an immutable list
	 */
	List<Member> replicasOf(Key key, int from);

}
