package io.kvorum.replication;

import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.quorum.Reply.Reason;

/** Records the stores that a replica did not acknowledge. Called by any thread. */
@FunctionalInterface
public interface MissedStores {

	/** Records nothing, on a node without peers. */
	MissedStores NONE = (_, _, _, _) -> {
	};

	/**
	 * Records that a replica did not acknowledge an entry that it is to hold. Neither
	 * waits nor fails.
	 * @param why {@link Reason#CLOCK} or {@link Reason#PROMISED} if it refused the entry,
	 * which others may have
	 */
	void missed(Member member, Key key, Entry entry, Reason why);

}
