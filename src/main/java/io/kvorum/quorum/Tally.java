package io.kvorum.quorum;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * The replies of the replicas of a key so far, and the decision. It is reached as soon as
 * enough have succeeded, and unreachable as soon as enough no longer can. Immutable.
 * <p>
 * A replica is identified by its position in the replica set. It counts once: later
 * replies are ignored.
 */
public final class Tally {

	private static final Failed NO_COPY = Failed.notDone(Reason.UNAVAILABLE, "it is to hold no copy of the entry");

	private final Quorum quorum;

	/** Replies by position; null if there is none yet. Never changed. */
	private final @Nullable Reply[] replies;

	private final Decision decision;

	private Tally(Quorum quorum, @Nullable Reply[] replies) {
		this.quorum = quorum;
		this.replies = replies;
		this.decision = quorum.decide(replies);
	}

	/**
	 * A tally without replies.
	 * @param required number of replicas that must succeed
	 * @param replicas number of all replicas
	 */
	public static Tally awaiting(int required, int replicas) {
		return awaiting(Quorum.of(required, replicas));
	}

	/** A tally without replies, of the replicas of a quorum. */
	public static Tally awaiting(Quorum quorum) {
		return new Tally(quorum, new Reply[quorum.replicas()]);
	}

	/** The tally with the reply of the replica at this position. */
	public Tally add(int position, Reply reply) {
		if (this.replies[position] != null) {
			return this;
		}
		@Nullable Reply[] more = this.replies.clone();
		more[position] = reply;
		return new Tally(this.quorum, more);
	}

	public Decision decision() {
		return this.decision;
	}

	public boolean isDecided() {
		return this.decision != Decision.PENDING;
	}

	/**
	 * The number of replicas that must succeed. Of two groups, the number of the one that
	 * lacks more.
	 */
	public int required() {
		return this.quorum.worse(this.replies).required();
	}

	/** The number of replicas that have succeeded, of those of {@link #required()}. */
	public int succeeded() {
		return this.quorum.worse(this.replies).succeeded(this.replies);
	}

	/** Whether any replica has succeeded. */
	public boolean hasSuccess() {
		for (Reply reply : this.replies) {
			if (reply != null && !(reply instanceof Failed)) {
				return true;
			}
		}
		return false;
	}

	/** The number of replicas that have failed. */
	public int failed() {
		int failed = 0;
		for (Reply reply : this.replies) {
			failed += (reply instanceof Failed) ? 1 : 0;
		}
		return failed;
	}

	/**
	 * The number of replicas that have to be asked, given those that have failed. All, if
	 * they are of two groups.
	 */
	public int needed() {
		return this.quorum.isOfTwo() ? replicas() : Math.min(replicas(), this.quorum.required() + failed());
	}

	/** The number of replicas. */
	public int replicas() {
		return this.replies.length;
	}

	/** The reply of the replica at this position; null if there is none yet. */
	public @Nullable Reply reply(int position) {
		return this.replies[position];
	}

	/**
	 * The newest version that the replicas hold, with its entry if one of them gave it.
	 * It is {@link Held#nothing()} if none of them has replied with an entry or a
	 * version.
	 */
	public Held newest() {
		Held newest = Held.nothing();
		for (Reply reply : this.replies) {
			if (reply instanceof Held held && isBetter(held, newest)) {
				newest = held;
			}
		}
		return newest;
	}

	private static boolean isBetter(Held held, Held than) {
		int order = held.version().compareTo(than.version());
		return order > 0 || (order == 0 && than.lacksEntry() && held.entry() != null);
	}

	/** Whether the required number of replicas hold this version, or a newer one. */
	public boolean isHeldByEnough(Version version) {
		return acknowledging(version, this.quorum).decision() == Decision.REACHED;
	}

	/**
	 * The tally of a store that follows a read. Replicas that hold this version, or a
	 * newer one, have acknowledged it. The others are still to be asked, but for those
	 * that do not count: they have failed.
	 * @param quorum of the replicas that are to hold a copy
	 */
	public Tally acknowledging(Version version, Quorum quorum) {
		@Nullable Reply[] held = new Reply[this.replies.length];
		for (int position = 0; position < held.length; position++) {
			held[position] = holds(position, version) ? Acknowledged.INSTANCE
					: quorum.counts(position) ? null : NO_COPY;
		}
		return new Tally(quorum, held);
	}

	/** Whether the replica at this position holds this version, or a newer one. */
	boolean holds(int position, Version version) {
		return this.replies[position] instanceof Held held && held.version().compareTo(version) >= 0;
	}

	/**
	 * The highest version that stood in the way of a replica which refused; null if none
	 * has refused.
	 */
	public @Nullable Version highestRefusal() {
		Version highest = null;
		for (Reply reply : this.replies) {
			Refusal refusal = (reply != null) ? reply.refusal() : null;
			if (refusal != null && (highest == null || refusal.highest().isNewerThan(highest))) {
				highest = refusal.highest();
			}
		}
		return highest;
	}

	/** The positions of the replicas that have replied with an older version. */
	public List<Integer> behind(Version version) {
		List<Integer> behind = new ArrayList<>();
		for (int position = 0; position < this.replies.length; position++) {
			if (this.replies[position] instanceof Held && !holds(position, version)) {
				behind.add(position);
			}
		}
		return behind;
	}

	/** The meaning of the replies so far. */
	public enum Decision {

		/** It depends on the replies that are still to come. */
		PENDING,

		/** Enough replicas have succeeded. */
		REACHED,

		/** Enough replicas cannot succeed any more. */
		UNREACHABLE

	}

}
