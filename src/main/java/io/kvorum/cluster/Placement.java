package io.kvorum.cluster;

import java.util.List;

import io.kvorum.kv.Key;

/** Says which members hold a key. */
@FunctionalInterface
public interface Placement {

	/**
	 * The first members in the order of a key. Every node gives the same answer. The list
	 * for fewer members is the beginning of the list for more.
	 * @param from the number of members, 1 to the size of the topology
	 * @return an immutable list
	 */
	List<Member> replicasOf(Key key, int from);

}
