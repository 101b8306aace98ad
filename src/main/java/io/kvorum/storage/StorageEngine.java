package io.kvorum.storage;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.storage.StorageException.Overloaded;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The store of one replica: the newest entry of each key that it was given.
 * <p>
 * Errors are {@link StorageException}s. Results arrive on the thread that subscribed if
 * the answer is in memory, else on the {@link CallerThreads caller's} executor.
 * Cancellation gives up the result, not the work: a store that has begun continues.
 */
public interface StorageEngine {

	/**
	 * The entry stored under the key, tombstones and expired ones too; empty where there
	 * is none.
	 */
	Mono<Entry> read(Key key, Deadline deadline);

	/**
	 * Stores an entry unless a newer one, or the same, is there. Completes when that is
	 * as durable as the engine's {@link Durability} says: also where the entry was
	 * superseded, the one that superseded it is durable. Not begun after the deadline;
	 * what had begun before may be stored later.
	 */
	Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline);

	/**
	 * Whether {@link #store} has room for a write now. Asked before the value is read, so
	 * that a write without room costs next to nothing. Reserves nothing.
	 * @param valueBytes the length of the value
	 */
	default boolean hasRoomFor(int valueBytes) {
		return true;
	}

	/**
	 * Refuses a write for which {@link #store} has no room, and counts it as one of its
	 * refusals; null if there is room.
	 * @param valueBytes the length of the value
	 */
	default @Nullable Overloaded refuseWrite(int valueBytes) {
		return null;
	}

	/**
	 * Reads the first entries of a range, in the order of their keys: at least one, if
	 * there is any. Nothing stays open between two pages, so a reader that asks for no
	 * more leaves nothing behind. What is written meanwhile may be in a later page or
	 * not. If an entry cannot be read, the entries before it are a page, and not the last
	 * one.
	 */
	Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline);

	/**
	 * The time since when the disk has not answered a read, in nanoseconds; 0 if no
	 * answer is due.
	 */
	default long silentNanos() {
		return 0;
	}

	/** Writes and syncs something small: completes where the disk takes writes. */
	Mono<Void> probe();

	/** The result of storing an entry. */
	enum StoreOutcome {

		/** It is the newest. */
		STORED,

		/** A newer one, or the same, was there. */
		SUPERSEDED

	}

}
