package io.kvorum.testing;

import java.util.List;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.TombstoneRecord;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Another index, for tests in which one question to it goes differently. */
public abstract class ForwardedIndex implements PartitionIndex {

	private final PartitionIndex index;

	protected ForwardedIndex(PartitionIndex index) {
		this.index = index;
	}

	@Override
	public Digests digests() {
		return this.index.digests();
	}

	@Override
	public KeyHash keyHash() {
		return this.index.keyHash();
	}

	@Override
	public Mono<List<List<EntryHeader>>> headers(List<Integer> partitions, int enough, Deadline deadline) {
		return this.index.headers(partitions, enough, deadline);
	}

	@Override
	public Mono<List<EntryHeader>> headers(KeyRange range, int limit, Deadline deadline) {
		return this.index.headers(range, limit, deadline);
	}

	@Override
	public Mono<Page> fetch(List<Key> keys, Page.Limit limit, Deadline deadline) {
		return this.index.fetch(keys, limit, deadline);
	}

	@Override
	public Mono<Boolean> remove(Key key, Version version, long promisedBeforeMillis) {
		return this.index.remove(key, version, promisedBeforeMillis);
	}

	@Override
	public Mono<List<TombstoneRecord>> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit,
			Deadline deadline) {
		return this.index.tombstones(after, beforeMillis, limit, deadline);
	}

}
