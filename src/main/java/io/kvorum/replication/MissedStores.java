package io.kvorum.replication;

import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;

/** Is told of stores that a replica did not acknowledge. Called by any thread. */
@FunctionalInterface
public interface MissedStores {

	/** Of a node without peers. */
	MissedStores NONE = (_, _, _) -> {
	};

	/**
	 * A replica that was to have an entry failed to say that it has it. Does not wait and
	 * does not fail.
	 */
	void missed(Member member, Key key, Entry entry);

}
