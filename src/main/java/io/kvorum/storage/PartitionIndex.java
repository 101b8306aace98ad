package io.kvorum.storage;

import java.util.List;
import java.util.function.Function;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The entries of a store by partition, known without reading them. Replicas find out by
 * it where they differ, and collectors find what to remove.
 * <p>
 * Errors are {@link StorageException}s; results arrive like those of a
 * {@link StorageEngine}.
 */
public interface PartitionIndex {

	/** Kept up to date with each entry that is stored or removed. */
	Digests digests();

	/**
	 * Works out something of all {@link #digests()}, which takes milliseconds: where
	 * other long reads are done, not on the calling thread.
	 */
	default <T> Mono<T> ofDigests(Function<Digests, T> work, Deadline deadline) {
		return Mono.fromSupplier(() -> work.apply(digests()));
	}

	/** The damage to the index, and what to do about it; null if none is known. */
	default @Nullable String damage() {
		return null;
	}

	/** The hash that partitions and {@link #digests()} go by. */
	KeyHash keyHash();

	/**
	 * The entries of each of these partitions, in the order of their keys; of the first
	 * ones only where these have enough.
	 * @param enough no partition begins behind so many entries
	 */
	Mono<List<List<EntryHeader>>> headers(List<Integer> partitions, int enough, Deadline deadline);

	/** The entries of a partition, in the order of their keys. */
	default Mono<List<EntryHeader>> headers(int partition, Deadline deadline) {
		return headers(List.of(partition), 1, deadline).map(List::getFirst);
	}

	/**
	 * The entries of these keys, as far as they fit into a page and are there.
	 * @param keys in their order, each once
	 * @return a page; the last one where it has all that there is of these keys
	 */
	Mono<Page> fetch(List<Key> keys, Page.Limit limit, Deadline deadline);

	/**
	 * Removes an entry for good, where the key still has this version: no tombstone stays
	 * behind.
	 * @return whether it was there
	 */
	Mono<Boolean> remove(Key key, Version version);

	/**
	 * Tombstones in the order of their versions, of deletes and of what has expired. One
	 * that has been overwritten meanwhile may be among them; trying to remove it makes an
	 * end of that.
	 * @param after the last one that was seen; null to begin
	 * @param beforeMillis those with a version of this instant or later are left out
	 * @param limit how many at most
	 */
	Mono<List<TombstoneRecord>> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit,
			Deadline deadline);

}
