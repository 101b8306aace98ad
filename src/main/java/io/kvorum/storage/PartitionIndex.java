package io.kvorum.storage;

import java.util.List;
import java.util.function.Function;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The index of a store by partition, which lists entries by their headers. Replicas use
 * it to find their differences and what to remove.
 * <p>
 * Errors are {@link StorageException}s; results arrive as those of a
 * {@link StorageEngine}.
 */
public interface PartitionIndex {

	/** The digests, updated with each entry that is stored or removed. */
	Digests digests();

	/**
	 * Computes a value from all {@link #digests()}, which takes milliseconds. An engine
	 * does it on a thread for reads of many rows; by default the subscribing thread does
	 * it.
	 */
	default <T> Mono<T> ofDigests(Function<Digests, T> work, Deadline deadline) {
		return Mono.fromSupplier(() -> work.apply(digests()));
	}

	/** The damage of the index and what to do about it; null if none is known. */
	default @Nullable String damage() {
		return null;
	}

	/** The hash that partitions and {@link #digests()} are based on. */
	KeyHash keyHash();

	/**
	 * The headers of these partitions' entries, in the order of their keys. Covers only
	 * the first partitions if these have enough.
	 * @param enough the number of headers after which no further partition begins
	 */
	Mono<List<List<EntryHeader>>> headers(List<Integer> partitions, int enough, Deadline deadline);

	/** The headers of a partition's entries, in the order of their keys. */
	default Mono<List<EntryHeader>> headers(int partition, Deadline deadline) {
		return headers(List.of(partition), 1, deadline).map(List::getFirst);
	}

	/**
	 * The headers of the entries of a range, in the order of their keys, for those who
	 * remove them: leaves out what cannot be read, and fails only if that is all.
	 * @param limit the most headers
	 */
	Mono<List<EntryHeader>> headers(KeyRange range, int limit, Deadline deadline);

	/**
	 * The stored entries of these keys, as far as they fit into a page.
	 * @param keys in ascending order, each once
	 * @return a page; the last one if it has all stored entries of these keys
	 */
	Mono<Page> fetch(List<Key> keys, Page.Limit limit, Deadline deadline);

	/**
	 * Removes an entry for good, if the key still has this version. No tombstone stays
	 * behind. A promise of the key stays.
	 * @param promisedBeforeMillis an entry under a promise of a later ballot is kept; in
	 * milliseconds since 1970
	 * @return whether it was there, and was removed
	 */
	Mono<Boolean> remove(Key key, Version version, long promisedBeforeMillis);

	/** Removes an entry for good, whatever is promised. */
	default Mono<Boolean> remove(Key key, Version version) {
		return remove(key, version, Long.MAX_VALUE);
	}

	/**
	 * Tombstones of deletes and of expired entries, in the order of their versions. May
	 * include one that has been overwritten; trying to remove it drops it from the index.
	 * Leaves out what cannot be read, and fails only if that is all.
	 * @param after the last one of the previous call; null to begin
	 * @param beforeMillis the instant before which versions have to be, in milliseconds
	 * since 1970
	 * @param limit the most tombstones
	 */
	Mono<List<TombstoneRecord>> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit,
			Deadline deadline);

}
