package io.kvorum.quorum;

import java.util.Collection;
import java.util.Comparator;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Lineage.Ancestor;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * The fate of a write whose acknowledgements did not come, as the newest entry of a
 * majority of promises tells it.
 */
public enum Fate {

	/** The newest entry is the write, or was made from it: the write happened. */
	MINE,

	/**
	 * No majority has had the write below the newest entry. A copy may still be on a
	 * minority, and a node without promises above it may propose it again. So this is no
	 * outcome for a client until something newer is chosen.
	 */
	NOT_CHOSEN,

	/** The newest entry does not tell. */
	UNCLEAR;

	/**
	 * Finds the fate of a write.
	 * @param newest the newest entry that a majority of promises found; null if none
	 * @param identity the identity of the write
	 * @param sent the versions under which it was sent to replicas
	 */
	public static Fate of(@Nullable Entry newest, Version identity, Collection<Version> sent) {
		if (newest == null) {
			return NOT_CHOSEN;
		}
		if (newest.identity().equals(identity)) {
			return MINE;
		}
		Version oldest = sent.stream().min(Comparator.naturalOrder()).orElse(newest.version());
		if (!newest.version().isNewerThan(oldest)) {
			return NOT_CHOSEN;
		}
		Lineage lineage = newest.lineage();
		if (lineage == null) {
			return UNCLEAR;
		}
		for (Ancestor ancestor : lineage.ancestors()) {
			if (ancestor.identity().equals(identity) || sent.contains(ancestor.version())) {
				return MINE;
			}
		}
		return oldest.isNewerThan(lineage.ancestors().getLast().version()) ? NOT_CHOSEN : UNCLEAR;
	}

	/**
	 * Finds the fate of a write without a condition. Such a write never gets another
	 * version. So it may also count as having happened right before a later write without
	 * a condition, which overwrote it.
	 */
	public static Fate ofUnconditional(@Nullable Entry newest, Version identity, Collection<Version> sent) {
		Fate fate = of(newest, identity, sent);
		return (fate == UNCLEAR && newest != null && isOverwrittenBy(newest, identity, sent)) ? MINE : fate;
	}

	private static boolean isOverwrittenBy(Entry newest, Version identity, Collection<Version> sent) {
		Lineage lineage = newest.lineage();
		if (lineage == null) {
			return true;
		}
		if (lineage.isWhole() && lineage.ancestors().getLast().identity().isNewerThan(identity)) {
			// All that was chosen since the first of them is there, and this write is
			// not.
			return true;
		}
		if (lineage.isConditional()) {
			return false;
		}
		return !lineage.isProposedAgain() || sent.stream()
			.filter(newest.version()::isNewerThan)
			.allMatch(version -> newest.identity().isNewerThan(version));
	}

}
