package io.kvorum.quorum;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import org.jspecify.annotations.Nullable;

/**
 * The replies of the replicas of a key so far, and whether they decide. A tally is
 * reached as soon as enough replicas have succeeded, and unreachable as soon as enough no
 * longer can. Immutable.
 * <p>
 * Replicas are told apart by their position in the replica set. Each counts once,
 * whatever it says afterwards.
 */
public final class Tally {

	private static final Failed NO_COPY = Failed.notDone(Reason.UNAVAILABLE, "it is to hold no copy of the entry");

	private final int required;

	/** Indexed by position; null without a reply. Never changed. */
	private final @Nullable Reply[] replies;

	private final int succeeded;

	private final int failed;

	private Tally(int required, @Nullable Reply[] replies, int succeeded, int failed) {
		this.required = required;
		this.replies = replies;
		this.succeeded = succeeded;
		this.failed = failed;
	}

	/**
	 * A tally without replies.
	 * @param required the replicas that must succeed
	 * @param replicas the replicas that are asked
	 */
	public static Tally awaiting(int required, int replicas) {
		if (required < 1 || required > replicas) {
			throw new IllegalArgumentException("%d of %d replicas cannot succeed".formatted(required, replicas));
		}
		return new Tally(required, new Reply[replicas], 0, 0);
	}

	/** This tally with one more reply. */
	public Tally add(int position, Reply reply) {
		if (this.replies[position] != null) {
			return this;
		}
		@Nullable Reply[] more = this.replies.clone();
		more[position] = reply;
		return (reply instanceof Failed) ? new Tally(this.required, more, this.succeeded, this.failed + 1)
				: new Tally(this.required, more, this.succeeded + 1, this.failed);
	}

	public Decision decision() {
		if (this.succeeded >= this.required) {
			return Decision.REACHED;
		}
		return (this.replies.length - this.failed < this.required) ? Decision.UNREACHABLE : Decision.PENDING;
	}

	public boolean isDecided() {
		return decision() != Decision.PENDING;
	}

	public int required() {
		return this.required;
	}

	public int succeeded() {
		return this.succeeded;
	}

	public int failed() {
		return this.failed;
	}

	/** The number of replicas. */
	public int replicas() {
		return this.replies.length;
	}

	/** The reply of the replica at a position; null if there is none yet. */
	public @Nullable Reply reply(int position) {
		return this.replies[position];
	}

	/**
	 * The newest of what the replicas hold, with its entry if one of them gave it;
	 * nothing before the first reply.
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

	/** Whether the required number of replicas holds this version or a newer one. */
	public boolean isHeldByEnough(Version version) {
		return acknowledging(version, this.required, _ -> true).decision() == Decision.REACHED;
	}

	/**
	 * The tally of a store of an entry that a read found. A replica that holds this
	 * version or a newer one has acknowledged it. The others are to be asked, except
	 * those that hold no copy.
	 * @param isCopy whether the replica at a position is to hold a copy
	 */
	public Tally acknowledging(Version version, int required, IntPredicate isCopy) {
		Tally store = awaiting(required, this.replies.length);
		for (int position = 0; position < this.replies.length; position++) {
			if (holds(position, version)) {
				store = store.add(position, Acknowledged.INSTANCE);
			}
			else if (!isCopy.test(position)) {
				store = store.add(position, NO_COPY);
			}
		}
		return store;
	}

	/** Whether the replica at a position holds this version or a newer one. */
	boolean holds(int position, Version version) {
		return this.replies[position] instanceof Held held && held.version().compareTo(version) >= 0;
	}

	/** The positions of replicas that have said that they hold something older. */
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
