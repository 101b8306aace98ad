package io.kvorum.testing;

import java.util.NavigableMap;
import java.util.TreeMap;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The storage port without a disk: what an engine has to do, in few lines. */
public final class InMemoryStorage implements StorageEngine {

	/** Guarded by this. */
	private final NavigableMap<Key, Entry> entries = new TreeMap<>();

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
		return StoreOutcome.STORED;
	}

}
