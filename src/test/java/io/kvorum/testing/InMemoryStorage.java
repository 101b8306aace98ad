package io.kvorum.testing;

import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Hint;
import io.kvorum.storage.HintLog;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.TombstoneRecord;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The storage ports without a disk: what an engine has to do, in few lines. */
public final class InMemoryStorage implements StorageEngine, PartitionIndex, HintLog {

	/** Guarded by this. */
	private final NavigableMap<Key, Entry> entries = new TreeMap<>();

	/** Guarded by this, but for its digests. */
	private final InMemoryIndex index = new InMemoryIndex();

	private final InMemoryHints hints = new InMemoryHints();

	@Override
	public Mono<Entry> read(Key key, Deadline deadline) {
		return Mono.defer(() -> Mono.justOrEmpty(stored(key)));
	}

	@Override
	public Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline) {
		return Mono.fromSupplier(() -> storeIfNewer(key, entry));
	}

	@Override
	public Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return Mono.fromSupplier(() -> page(range, limit));
	}

	private synchronized Page page(KeyRange range, Page.Limit limit) {
		return Pages.of(this.entries, range, limit);
	}

	@Override
	public Mono<Void> probe() {
		return Mono.empty();
	}

	private synchronized @Nullable Entry stored(Key key) {
		return this.entries.get(key);
	}

	private synchronized StoreOutcome storeIfNewer(Key key, Entry entry) {
		Entry there = this.entries.get(key);
		if (there != null && !entry.version().isNewerThan(there.version())) {
			return StoreOutcome.SUPERSEDED;
		}
		this.entries.put(key, entry);
		this.index.put(key, entry);
		return StoreOutcome.STORED;
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
		return Mono.fromSupplier(() -> stubsNow(partitions, enough));
	}

	private synchronized List<List<EntryHeader>> stubsNow(List<Integer> partitions, int enough) {
		return this.index.headers(partitions, enough);
	}

	@Override
	public Mono<Page> fetch(List<Key> keys, Page.Limit limit, Deadline deadline) {
		return Mono.fromSupplier(() -> fetchNow(keys, limit));
	}

	private synchronized Page fetchNow(List<Key> keys, Page.Limit limit) {
		return Pages.of(this.entries, keys, limit);
	}

	@Override
	public Mono<Boolean> remove(Key key, Version version) {
		return Mono.fromSupplier(() -> removeNow(key, version));
	}

	private synchronized boolean removeNow(Key key, Version version) {
		Entry there = this.entries.get(key);
		if (there == null || !there.version().equals(version)) {
			return false;
		}
		this.entries.remove(key);
		this.index.remove(key);
		return true;
	}

	@Override
	public Mono<List<TombstoneRecord>> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit,
			Deadline deadline) {
		return Mono.fromSupplier(() -> gravesNow(after, beforeMillis, limit));
	}

	private synchronized List<TombstoneRecord> gravesNow(@Nullable TombstoneRecord after, long beforeMillis,
			int limit) {
		return this.index.tombstones(after, beforeMillis, limit);
	}

	@Override
	public Mono<Boolean> add(long target, Key key, Entry entry) {
		return this.hints.add(target, key, entry);
	}

	@Override
	public Mono<List<Hint>> oldest(long target, int maxBytes, int maxItems, Deadline deadline) {
		return this.hints.oldest(target, maxBytes, maxItems, deadline);
	}

	@Override
	public Mono<Void> remove(Hint hint) {
		return this.hints.remove(hint);
	}

	@Override
	public Mono<Void> removeAll(long target) {
		return this.hints.removeAll(target);
	}

	@Override
	public Waiting waiting(long target) {
		return this.hints.waiting(target);
	}

	@Override
	public Set<Long> targets() {
		return this.hints.targets();
	}

}
