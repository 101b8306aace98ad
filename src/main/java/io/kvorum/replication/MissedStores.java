package io.kvorum.replication;

import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.quorum.Reply.Reason;

/** Is told of stores that a replica did not acknowledge. Called by any thread. */
@FunctionalInterface
public interface MissedStores {

	/** Of a node without peers. */
	MissedStores NONE = (_, _, _, _) -> {
	};

	/**
	 * A replica that was to have an entry failed to say that it has it. Does not wait and
	 * does not fail.
	 * @param why {@link Reason#CLOCK} if it refused the entry, which others may have
	 */
	void missed(Member member, Key key, Entry entry, Reason why);

}
