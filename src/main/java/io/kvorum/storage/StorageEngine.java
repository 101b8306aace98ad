package io.kvorum.storage;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.storage.StorageException.Overloaded;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * What one replica stores: the newest entry of each key that it was given.
 * <p>
 * Errors are {@link StorageException}s. Results arrive on the thread that subscribed
 * where the answer is in memory, else on the {@link CallerThreads caller's} executor.
 * Cancelling gives up the result, not the work: a store that has begun goes on.
 */
public interface StorageEngine {

	/**
	 * The entry stored under the key, tombstones and expired ones too; empty where there
	 * is none.
	 */
	Mono<Entry> read(Key key, Deadline deadline);

	/** With no deadline but the engine's own. */
	default Mono<Entry> read(Key key) {
		return read(key, Deadline.NONE);
	}

	/**
	 * Stores an entry unless a newer one, or the same, is there. Completes when that is
	 * as durable as the engine's {@link Durability} says: also where the entry was
	 * superseded, the one that superseded it is durable. Not begun after the deadline;
	 * what had begun before may be stored later.
	 */
	Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline);

	/**
	 * Whether {@link #store} would find room for a write now. Asked before the value is
	 * read: then a write costs next to nothing where there is none. Reserves nothing.
	 * @param valueBytes how long its value will be
	 */
	default boolean hasRoomFor(int valueBytes) {
		return true;
	}

	/**
	 * Refuses a write that is about to be made, where {@link #store} would refuse it for
	 * want of room, and counts that as one of its refusals; null where there is room.
	 * @param valueBytes how long its value will be
	 */
	default @Nullable Overloaded refuseWrite(int valueBytes) {
		return null;
	}

	/** With no deadline but the engine's own. */
	default Mono<StoreOutcome> store(Key key, Entry entry) {
		return store(key, entry, Deadline.NONE);
	}

	/**
	 * The first entries of a range, in the order of their keys: at least one, if there is
	 * any. Holds nothing open between two pages, so that who asks for no more leaves
	 * nothing behind; what is written meanwhile may be in a later page or not. What can
	 * be read before something that cannot is a page, and not the last one.
	 */
	Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline);

	/**
	 * For how long the disk has not answered a read, in nanoseconds; 0 where it owes no
	 * answer.
	 */
	default long silentNanos() {
		return 0;
	}

	/** Writes and syncs something small: completes where the disk takes writes. */
	Mono<Void> probe();

	/** What became of an entry. */
	enum StoreOutcome {

		/** It is the newest. */
		STORED,

		/** A newer one, or the same, was there. */
		SUPERSEDED

	}

}
