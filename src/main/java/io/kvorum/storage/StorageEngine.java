package io.kvorum.storage;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor.Verdict;
import io.kvorum.storage.StorageException.Overloaded;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The entries of one replica: the newest that it was given for each key.
 * <p>
 * Errors are {@link StorageException}s. Results from memory and refusals arrive on the
 * thread that subscribed, others on the {@link CallerThreads caller's} executor.
 * Cancellation drops the result, not a store: even a queued one goes on.
 */
public interface StorageEngine {

	/**
	 * The stored entry of the key, even a tombstone or an expired one; empty without an
	 * entry.
	 */
	Mono<Entry> read(Key key, Deadline deadline);

	/**
	 * Stores an entry by the rule of {@link Acceptor#store}. Completes when the entry, or
	 * the one that superseded it, is as durable as the engine's {@link Durability}. A
	 * store does not begin after the deadline, but may complete after it.
	 */
	Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline);

	/**
	 * Stores an entry that was found on another replica, by the rule of
	 * {@link Acceptor#repair}; otherwise as {@link #store}.
	 */
	Mono<StoreOutcome> repair(Key key, Entry entry, Deadline deadline);

	/**
	 * Promises a ballot by the rule of {@link Acceptor#prepare}. Completes when the
	 * promise is as durable as a store.
	 */
	Mono<StoreOutcome> prepare(Key key, Version ballot, Deadline deadline);

	/**
	 * The ballot that is promised beside the entry of a key; {@link Version#ABSENT}
	 * without one. An entry that was stored under a ballot is a promise of it, and needs
	 * no other.
	 */
	Mono<Version> promised(Key key, Deadline deadline);

	/**
	 * Stores an entry that was made under a ballot, by the rule of
	 * {@link Acceptor#accept}; otherwise as {@link #store}.
	 * @param base the newest version that its proposer has seen
	 */
	Mono<StoreOutcome> accept(Key key, Entry entry, Version base, Deadline deadline);

	/**
	 * Whether {@link #store} has room for a write now. A caller asks before it reads the
	 * value, so a refused write costs next to nothing. The answer reserves nothing.
	 * @param valueBytes the length of its value, in bytes
	 */
	default boolean hasRoomFor(int valueBytes) {
		return true;
	}

	/**
	 * Counts a refusal if {@link #store} has no room for a write now, and returns the
	 * limit; null if there is room.
	 * @param valueBytes the length of its value, in bytes
	 */
	default @Nullable Overloaded refuseWrite(int valueBytes) {
		return null;
	}

	/**
	 * The first entries of a range, in the order of their keys: at least one, if there is
	 * any. Keeps nothing open between pages, so a caller may stop at any page. Later
	 * pages may have entries written meanwhile. If an entry cannot be read, the page ends
	 * before it and is not the last one; if that is the first, the scan fails.
	 */
	Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline);

	/**
	 * The time for which reads of entries have waited without any answer of the disk, in
	 * nanoseconds; 0 if none waits.
	 */
	default long silentNanos() {
		return 0;
	}

	/**
	 * Writes and syncs a small value: completes if the disk takes writes, and fails as
	 * they do. A disk that does not keep up takes writes: if this one has to wait for too
	 * long, it completes if others were written in the last seconds.
	 */
	Mono<Void> probe();

	/**
	 * The outcome of a store, or of a ballot.
	 *
	 * @param state the state of the key that led to a refusal; otherwise of no meaning
	 */
	record StoreOutcome(Verdict verdict, Acceptor state) {

		/** The entry is the newest, or the ballot is promised. */
		public static final StoreOutcome STORED = new StoreOutcome(Verdict.TAKEN, Acceptor.UNTOUCHED);

		/** A newer entry, or the same one, was there. */
		public static final StoreOutcome SUPERSEDED = new StoreOutcome(Verdict.HELD, Acceptor.UNTOUCHED);

		/** The outcome by a verdict of this state. */
		public static StoreOutcome of(Verdict verdict, Acceptor state) {
			return switch (verdict) {
				case TAKEN -> STORED;
				case HELD -> SUPERSEDED;
				case REFUSED -> new StoreOutcome(Verdict.REFUSED, state);
			};
		}

		public boolean isRefused() {
			return this.verdict == Verdict.REFUSED;
		}

	}

}
