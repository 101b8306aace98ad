package io.kvorum.testing;

import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor;
import io.kvorum.storage.Acceptor.Verdict;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Hint;
import io.kvorum.storage.HintLog;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.PromiseLog;
import io.kvorum.storage.PromiseRecord;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.TombstoneRecord;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The storage ports without a disk: what an engine has to do, in few lines. */
public final class InMemoryStorage implements StorageEngine, PartitionIndex, HintLog, PromiseLog {

	/** Guarded by this. */
	private final NavigableMap<Key, Entry> entries = new TreeMap<>();

	/** The highest ballots promised. Guarded by this. */
	private final NavigableMap<Key, Version> promises = new TreeMap<>();

	/** Guarded by this, but for its digests. */
	private final InMemoryIndex index = new InMemoryIndex();

	private final InMemoryHints hints = new InMemoryHints();

	@Override
	public Mono<Entry> read(Key key, Deadline deadline) {
		return Mono.defer(() -> Mono.justOrEmpty(stored(key)));
	}

	@Override
	public Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline) {
		return Mono.fromSupplier(() -> store(key, entry, Acceptor::store));
	}

	@Override
	public Mono<StoreOutcome> repair(Key key, Entry entry, Deadline deadline) {
		return Mono.fromSupplier(() -> store(key, entry, Acceptor::repair));
	}

	@Override
	public Mono<StoreOutcome> accept(Key key, Entry entry, Version base, Deadline deadline) {
		return Mono.fromSupplier(() -> store(key, entry, (state, version) -> state.accept(version, base)));
	}

	@Override
	public Mono<StoreOutcome> prepare(Key key, Version ballot, Deadline deadline) {
		return Mono.fromSupplier(() -> promise(key, ballot));
	}

	@Override
	public synchronized Mono<Version> promised(Key key, Deadline deadline) {
		return Mono.just(this.promises.getOrDefault(key, Version.ABSENT));
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

	private synchronized StoreOutcome store(Key key, Entry entry, BiFunction<Acceptor, Version, Verdict> rule) {
		Acceptor state = stateOf(key);
		Verdict verdict = rule.apply(state, entry.version());
		if (verdict == Verdict.TAKEN) {
			this.entries.put(key, entry);
			this.index.put(key, entry);
			if (entry.lineage() != null) {
				this.promises.merge(key, entry.version(), (one, other) -> one.isNewerThan(other) ? one : other);
			}
		}
		return StoreOutcome.of(verdict, state);
	}

	private synchronized StoreOutcome promise(Key key, Version ballot) {
		Acceptor state = stateOf(key);
		Verdict verdict = state.prepare(ballot);
		if (verdict == Verdict.TAKEN) {
			this.promises.put(key, ballot);
		}
		return StoreOutcome.of(verdict, state);
	}

	private Acceptor stateOf(Key key) {
		Entry there = this.entries.get(key);
		return new Acceptor((there != null) ? there.version() : Version.ABSENT,
				this.promises.getOrDefault(key, Version.ABSENT));
	}

	@Override
	public Mono<List<PromiseRecord>> promises(@Nullable Key after, int limit, Deadline deadline) {
		return Mono.fromSupplier(() -> promisesNow(after, limit));
	}

	private synchronized List<PromiseRecord> promisesNow(@Nullable Key after, int limit) {
		return ((after != null) ? this.promises.tailMap(after, false) : this.promises).entrySet()
			.stream()
			.limit(limit)
			.map(promise -> new PromiseRecord(promise.getKey(), promise.getValue()))
			.toList();
	}

	@Override
	public synchronized Mono<Void> keep(Key key, Version promise) {
		this.promises.merge(key, promise, (one, other) -> one.isNewerThan(other) ? one : other);
		return Mono.empty();
	}

	@Override
	public synchronized Mono<Void> forget(PromiseRecord promise) {
		this.promises.remove(promise.key(), promise.ballot());
		return Mono.empty();
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
	public Mono<List<EntryHeader>> headers(KeyRange range, int limit, Deadline deadline) {
		return Mono.fromSupplier(() -> Pages.headers(page(range, Page.Limit.of(Integer.MAX_VALUE, limit))));
	}

	@Override
	public Mono<Page> fetch(List<Key> keys, Page.Limit limit, Deadline deadline) {
		return Mono.fromSupplier(() -> fetchNow(keys, limit));
	}

	private synchronized Page fetchNow(List<Key> keys, Page.Limit limit) {
		return Pages.of(this.entries, keys, limit);
	}

	@Override
	public Mono<Boolean> remove(Key key, Version version, long promisedBeforeMillis) {
		return Mono.fromSupplier(() -> removeNow(key, version, promisedBeforeMillis));
	}

	private synchronized boolean removeNow(Key key, Version version, long promisedBeforeMillis) {
		Entry there = this.entries.get(key);
		if (there == null || !there.version().equals(version)
				|| stateOf(key).promise().millis() >= promisedBeforeMillis) {
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
