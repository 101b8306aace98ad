package io.kvorum.cluster;

import java.util.List;

import io.kvorum.kv.Key;

/** The part of a placement that a coordinator needs: the members that hold a key. */
@FunctionalInterface
public interface Placement {

	/**
	 * The first members in the order of this key. Every node gives the same answer, and
	 * the list for fewer members is the beginning of the list for more.
	 * @param part the index of the topology among {@link Topology#parts()}
	 * @param from how many, 1 to the size of that topology
	 * @return an immutable list
	 */
	List<Member> replicasOf(Key key, int part, int from);

	/** The first members in the order of this key, by the only topology or the first. */
	default List<Member> replicasOf(Key key, int from) {
		return replicasOf(key, 0, from);
	}

}
