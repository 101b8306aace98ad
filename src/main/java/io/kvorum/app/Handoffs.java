package io.kvorum.app;

import io.kvorum.cluster.Member;
import io.kvorum.convergence.change.ChangeState;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.MissedStores;
import org.jspecify.annotations.Nullable;

/**
 * Passes missed stores to the hinted handoff of the present layout. Operations that began
 * with an earlier one name its members. Tells the collection of tombstones what it has to
 * wait for in the present layout.
 */
final class Handoffs implements MissedStores {

	private volatile @Nullable LayoutParts parts;

	private volatile @Nullable ChangeState change;

	/** Before repairs are those of a layout. */
	void begin(ChangeState next) {
		this.change = next;
	}

	void become(LayoutParts next) {
		this.parts = next;
	}

	@Override
	public void missed(Member member, Key key, Entry entry, Reason why) {
		LayoutParts now = this.parts;
		Member present = (now != null) ? now.topology().current(member) : null;
		if (now != null && present != null) {
			now.handoff().missed(present, key, entry, why);
		}
	}

	/** As {@link ChangeState#isEarlierOver}. */
	boolean isEarlierOver() {
		ChangeState now = this.change;
		return now != null && now.isEarlierOver();
	}

	/** The age of the oldest hint that waits here, as that of a version. */
	long oldestMillis() {
		LayoutParts now = this.parts;
		return (now != null) ? now.handoff().oldestMillis() : Long.MAX_VALUE;
	}

}
