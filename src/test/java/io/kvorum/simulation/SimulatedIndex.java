package io.kvorum.simulation;

import java.util.List;
import java.util.TreeMap;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.PromiseLog;
import io.kvorum.storage.PromiseRecord;
import io.kvorum.storage.TombstoneRecord;
import io.kvorum.testing.Pages;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The index of a simulated disk. */
final class SimulatedIndex implements PartitionIndex, PromiseLog {

	private final SimulatedNode node;

	private final SimulatedDisk disk;

	SimulatedIndex(SimulatedNode node) {
		this.node = node;
		this.disk = node.disk();
	}

	@Override
	public Digests digests() {
		return this.disk.content().digests();
	}

	@Override
	public KeyHash keyHash() {
		return RendezvousPlacement::hashOf;
	}

	@Override
	public Mono<List<List<EntryHeader>>> headers(List<Integer> partitions, int enough, Deadline deadline) {
		return this.disk.lookUp(() -> partitions.stream().map(this.disk.content()::headers).toList());
	}

	@Override
	public Mono<List<EntryHeader>> headers(KeyRange range, int limit, Deadline deadline) {
		return this.disk.lookUp(() -> Pages.headers(
				Pages.of(new TreeMap<>(this.disk.content().entries), range, Page.Limit.of(Integer.MAX_VALUE, limit))));
	}

	@Override
	public Mono<Page> fetch(List<Key> keys, Page.Limit limit, Deadline deadline) {
		return this.disk.lookUp(() -> {
			TreeMap<Key, Entry> found = new TreeMap<>(this.disk.content().entries);
			found.keySet().retainAll(keys);
			return Pages.of(found, KeyRange.all(), limit);
		});
	}

	@Override
	public Mono<Boolean> remove(Key key, Version version, long promisedBeforeMillis) {
		return this.disk.write(() -> {
			boolean removed = this.disk.content().remove(key, version, promisedBeforeMillis);
			if (removed) {
				this.node.log(() -> "removes k%d %s".formatted(key.bytes()[0], Values.text(version)));
			}
			return removed;
		});
	}

	@Override
	public Mono<List<TombstoneRecord>> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit,
			Deadline deadline) {
		return this.disk.lookUp(() -> this.disk.content().tombstones(after, beforeMillis, limit));
	}

	@Override
	public Mono<List<PromiseRecord>> promises(@Nullable Key after, int limit, Deadline deadline) {
		return this.disk.lookUp(() -> this.disk.content()
			.promises()
			.stream()
			.filter(promise -> after == null || promise.key().compareTo(after) > 0)
			.limit(limit)
			.toList());
	}

	@Override
	public Mono<Void> keep(Key key, Version promise) {
		return this.disk.write(() -> {
			this.disk.content().promise(key, promise);
			return true;
		}).then();
	}

	@Override
	public Mono<Void> forget(PromiseRecord promise) {
		return this.disk.write(() -> this.disk.content().promises.remove(promise.key(), promise.ballot())).then();
	}

}
