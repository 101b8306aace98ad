package io.kvorum.api;

import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.testing.InMemoryStorage;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A storage that has no room for writes while a test says so. */
final class FullStorage implements StorageEngine {

	final InMemoryStorage stored = new InMemoryStorage();

	/** Refuses what is about to be made; null while there is room. */
	volatile @Nullable Overloaded early;

	/** Refuses what was made all the same; null while there is room. */
	volatile @Nullable Overloaded late;

	private final AtomicInteger stores = new AtomicInteger();

	/** Whether nobody has tried to store anything. */
	boolean isEmpty() {
		return this.stores.get() == 0;
	}

	@Override
	public boolean hasRoomFor(int valueBytes) {
		return this.early == null;
	}

	@Override
	public @Nullable Overloaded refuseWrite(int valueBytes) {
		return this.early;
	}

	@Override
	public Mono<StoreOutcome> repair(Key key, Entry entry, Deadline deadline) {
		return this.stored.repair(key, entry, deadline);
	}

	@Override
	public Mono<Version> promised(Key key, Deadline deadline) {
		return this.stored.promised(key, deadline);
	}

	@Override
	public Mono<StoreOutcome> prepare(Key key, Version ballot, Deadline deadline) {
		return this.stored.prepare(key, ballot, deadline);
	}

	@Override
	public Mono<StoreOutcome> accept(Key key, Entry entry, Version base, Deadline deadline) {
		return this.stored.accept(key, entry, base, deadline);
	}

	@Override
	public Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline) {
		this.stores.incrementAndGet();
		return Mono.defer(() -> {
			Overloaded refused = this.late;
			return (refused != null) ? Mono.error(refused) : this.stored.store(key, entry, deadline);
		});
	}

	@Override
	public Mono<Entry> read(Key key, Deadline deadline) {
		return this.stored.read(key, deadline);
	}

	@Override
	public Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return this.stored.scan(range, limit, deadline);
	}

	@Override
	public Mono<Void> probe() {
		return this.stored.probe();
	}

}
