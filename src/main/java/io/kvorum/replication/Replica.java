package io.kvorum.replication;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A replica of keys, on this node or another one.
 * <p>
 * It always replies: no error signals for what can go wrong, and something by the
 * deadline, though another node may carry out later what it was asked in time. Replies
 * arrive on the caller's executor.
 */
public interface Replica {

	/** The node it is on. */
	Member member();

	/** The newest entry of a key: a tombstone or an expired one, too. */
	Mono<Reply> read(Key key, Deadline deadline);

	/** The version of the newest entry of a key. */
	Mono<Reply> readVersion(Key key, Deadline deadline);

	/**
	 * Stores an entry where there is no newer one. Once subscribed to, it is carried out,
	 * cancelled or not.
	 * @param repair whether the entry was found on another replica: then its version is
	 * not held against this one's clock
	 */
	Mono<Reply> store(Key key, Entry entry, boolean repair, Deadline deadline);

	/**
	 * Whether a store would find room, as far as is known without asking anybody. Where
	 * it says no {@link #refuseStore} says why.
	 * @param valueBytes how long the value will be
	 */
	default boolean hasRoomFor(int valueBytes) {
		return true;
	}

	/**
	 * Refuses a store that is about to be made, where it would be refused for want of
	 * room, and nobody need be asked to know that; null where it is to be tried.
	 * @param valueBytes how long the value will be
	 */
	default @Nullable Failed refuseStore(int valueBytes) {
		return null;
	}

	/**
	 * The first entries that it holds of a range: {@link Listed}, where it does not fail.
	 */
	Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline);

	/**
	 * Asks something beside reading and storing, see {@link PeerQueries}:
	 * {@link Answered}, where it does not fail.
	 */
	Mono<Reply> ask(byte[] query, Deadline deadline);

	/**
	 * How long it is expected to take for a read, in nanoseconds: 0 for the replica of
	 * this node, {@link #AWAY} for one that is known not to answer.
	 */
	long expectedNanos();

	/** Whether it is not known to be away. */
	default boolean isThere() {
		return expectedNanos() != AWAY;
	}

	/** It is not there. */
	long AWAY = Long.MAX_VALUE;

}
