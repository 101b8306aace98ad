package io.kvorum.replication;

import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;

/** Is told of stores that a replica did not acknowledge. Called by any thread. */
public interface MissedStores {

	/** Of a node without peers. */
	MissedStores NONE = new MissedStores() {

		@Override
		public void missed(Member member, Key key, Entry entry) {
		}

		@Override
		public void refused(Member member, Key key) {
		}

	};

	/**
	 * A replica that was to have an entry failed to say that it has it. Does not wait and
	 * does not fail.
	 */
	void missed(Member member, Key key, Entry entry);

	/**
	 * A replica refused, by its clock, an entry that others may have stored. A repair is
	 * to bring it there. Does not wait and does not fail.
	 */
	void refused(Member member, Key key);

}
