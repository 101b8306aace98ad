package io.kvorum.replication;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A replica of keys, on this node or another one.
 * <p>
 * It always replies by the deadline and reports a failure as a reply, not as an error
 * signal. Another node may still carry out a request after that. Replies arrive on the
 * caller's executor.
 */
public interface Replica {

	/** The node that it is on. */
	Member member();

	/** Reads the newest entry of a key, which may be a tombstone or expired. */
	Mono<Reply> read(Key key, Deadline deadline);

	/** Reads the version of the newest entry of a key. */
	Mono<Reply> readVersion(Key key, Deadline deadline);

	/**
	 * Stores an entry unless there is a newer one, or a promise of a higher ballot. Once
	 * subscribed to, the store is carried out even if it is cancelled.
	 */
	Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline);

	/**
	 * Asks for the promise to store nothing of the key below a ballot. Replies with what
	 * the replica holds, as {@link #read} does, once the promise is on disk.
	 */
	default Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
		return Mono.just(NO_BALLOTS);
	}

	/**
	 * Stores an entry that was made under a ballot, as {@link #store} does. Refuses it if
	 * a higher ballot is promised, or the replica holds something newer than the base.
	 * @param base the newest version that the proposer has seen
	 */
	default Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
		return Mono.just(NO_BALLOTS);
	}

	/** Whether the replica is not known to be of a release without ballots. */
	default boolean knowsBallots() {
		return true;
	}

	/** The reply of a release that knows no ballots. */
	Failed NO_BALLOTS = Failed.notDone(Reason.OUTDATED,
			"the release of the node knows no conditional writes: update all nodes first");

	/** The reason for which an entry is stored. */
	enum Purpose {

		/** It is new: its expiry and its version are compared with the clock. */
		WRITE,

		/** A read found it on too few replicas, and counts the acknowledgements. */
		WRITE_BACK,

		/**
		 * It was found on another replica, and the acknowledgement counts for nothing.
		 */
		REPAIR;

		/** Whether the entry was found on another replica. */
		public boolean isRepair() {
			return this != WRITE;
		}

	}

	/**
	 * Whether a store would find room, as far as this node knows. If not,
	 * {@link #refuseStore} says why.
	 * @param valueBytes the length of the value
	 */
	default boolean hasRoomFor(int valueBytes) {
		return true;
	}

	/**
	 * Refuses a store that is certain to fail for lack of room, without asking the
	 * replica.
	 * @param valueBytes the length of the value
	 * @return why the store is refused; null if it should be tried
	 */
	default @Nullable Failed refuseStore(int valueBytes) {
		return null;
	}

	/**
	 * Scans the first entries of a range; replies with {@link Listed} or a failure.
	 * Internal keys are left out.
	 */
	Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline);

	/** Asks a query; replies with {@link Answered} or a failure. */
	Mono<Reply> ask(PeerQuery query, Deadline deadline);

	/**
	 * The expected time of a read, in nanoseconds. The replicas of a key are asked in the
	 * order of this time. It is 0 for the replica of this node, unless its disk is slow
	 * to answer or its voting right is withheld. It is {@link #AWAY} for a replica that
	 * is known not to answer.
	 */
	long expectedNanos();

	/**
	 * Whether nodes are named to the replica by their tags: it is not known to be of a
	 * release that numbers them by their place in the topology.
	 */
	default boolean knowsTags() {
		return true;
	}

	/**
	 * Whether the replica has the same topology as this node. While the topology changes,
	 * a node works with others that have the one before or after the change.
	 */
	default boolean isOfSameTopology() {
		return true;
	}

	/** Whether the replica is known to have an earlier layout than this node. */
	default boolean isBehind() {
		return false;
	}

	/** Whether the replica may answer: it is not known to be away. */
	default boolean isThere() {
		return expectedNanos() != AWAY;
	}

	/** The expected time of a replica that is away. */
	long AWAY = Long.MAX_VALUE;

}
