package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor;
import io.kvorum.storage.Acceptor.Verdict;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.Checkpoints;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EngineMeasures;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.ExpiryHorizon;
import io.kvorum.storage.Hint;
import io.kvorum.storage.HintLog;
import io.kvorum.storage.NodeRecord;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.PromiseLog;
import io.kvorum.storage.PromiseRecord;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.WriteTimedOut;
import io.kvorum.storage.StoreOpenException;
import io.kvorum.storage.StoreSize;
import io.kvorum.storage.TombstoneRecord;
import io.kvorum.storage.rocksdb.Change.Rule;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * The storage engine on RocksDB.
 * <p>
 * <b>Reads</b> look into memory on the calling thread, which may be an event loop: the
 * {@link RowCache}, the memtables and the block cache answer within microseconds. Only if
 * memory cannot answer does a read go to the storage scheduler. Rejected:
 * {@code keyMayExist}. It is faster when memory cannot answer, but reports any error as
 * "absent".
 * <p>
 * <b>Pages of ranges</b> and reads for repair have threads of their own, so a read of one
 * entry never waits behind them.
 * <p>
 * <b>Writes</b> go to the {@link Committer}.
 */
public final class RocksStorage
		implements StorageEngine, PartitionIndex, HintLog, PromiseLog, NodeRecord, EngineMeasures, StoreSize {

	private static final Logger logger = LoggerFactory.getLogger(RocksStorage.class);

	/** The interval of checks whether the disk hangs. */
	private static final Duration OVERDUE_INTERVAL = Duration.ofMillis(100);

	/**
	 * The time without a batch after which a disk that does not keep up is taken for one
	 * that hangs.
	 */
	private static final Duration HUNG_AFTER = Duration.ofSeconds(5);

	/** Time limit of {@link #liveBytes()}. */
	private static final Duration SIZE_TIMEOUT = Duration.ofSeconds(10);

	private final RocksSettings settings;

	private final TimeSource time;

	private final KeyHash hashes;

	private final LongSupplier identities;

	private final CallerThreads callers;

	private final StorageEvents events;

	private final Consumer<Throwable> whenFailed;

	private final StoreGate gate = new StoreGate();

	private final EntryReads entries;

	private final LongReads pages;

	private final LongReads repairs;

	private final LongAdder repairedBytes = new LongAdder();

	/**
	 * Loads the native library, which takes a few tenths of a second, while the
	 * application starts. {@link #open()} does it in any case, and reports a failure.
	 */
	public static void preload() {
		try {
			NativeLibrary.load();
		}
		catch (StoreOpenException _) {
			// open() meets it again and reports it.
		}
	}

	/**
	 * Creates an engine that is not open yet.
	 * @param hashes the hash that assigns keys to partitions; always the same for a store
	 * @param identities random identities for new stores
	 * @param schedulers of reads; bounded, and disposed of by their owner
	 * @param whenFailed called once, by the committer's thread, when the store has failed
	 * and takes no more writes. The process should then end: only opening the store again
	 * shows what is on disk.
	 */
	public RocksStorage(RocksSettings settings, TimeSource time, KeyHash hashes, LongSupplier identities,
			RocksSchedulers schedulers, CallerThreads callers, StorageEvents events, Consumer<Throwable> whenFailed) {
		this.settings = settings;
		this.time = time;
		this.hashes = hashes;
		this.identities = identities;
		this.callers = callers;
		this.events = events;
		this.whenFailed = whenFailed;
		this.entries = new EntryReads(this.gate, settings, time, schedulers.reads(), callers, events);
		this.pages = new LongReads(this.gate, time, schedulers.ranges(),
				() -> new Overloaded("kvorum.range.queue-length", settings.rangeQueueLength()), callers, events);
		this.repairs = new LongReads(this.gate, time, schedulers.repairs(),
				() -> new Overloaded("the queue of reads for repairs", RocksSchedulers.REPAIR_QUEUE_LENGTH), callers,
				events);
	}

	/**
	 * Opens the store, or creates a new one.
	 * @throws StoreOpenException if that fails; its message is for an operator
	 */
	public synchronized void open() {
		MissingFiles.refuse(this.settings.path());
		Database database = Database.open(this.settings);
		try {
			OpenStore opened = open(database);
			this.gate.prepare(opened);
			opened.committer().start();
			this.gate.open();
			BackgroundTasks tasks = opened.tasks();
			tasks.every(OVERDUE_INTERVAL, "overdue writes", opened.committer()::failOverdue);
			tasks.every(this.settings.collectInterval(), "expired entries", opened.collector()::collect);
			DigestBuild build = opened.build();
			if (build != null) {
				tasks.once("digests", build::run);
			}
		}
		catch (RocksDBException ex) {
			database.close();
			throw Failures.opening(this.settings.path(), ex);
		}
		catch (RuntimeException ex) {
			database.close();
			throw ex;
		}
	}

	private OpenStore open(Database database) throws RocksDBException {
		Digests digests = new Digests(this.settings.factor());
		SavedDigests.load(database, digests);
		NodeFacts facts = NodeFacts.read(database, this.identities);
		IndexDamage damage = new IndexDamage(this.events, this::recordIndexDamage);
		new IndexBuilder(database, this.hashes, this.time, damage).buildIfMissing();
		Derived derived = Derived.of(digests, HintCounts.read(database),
				Math.toIntExact(this.settings.rowCacheBytes()));
		return new OpenStore(database, facts, damage, derived,
				new Committer(database, derived, this.settings, this.time, this.events, this.whenFailed),
				new ExpiryCollector(new CollectorReader(database, this.events), this::collect,
						new ExpiryHorizon(this.time, this.settings.expiryMargin()), this.events),
				digests.isComplete() ? null
						: new DigestBuild(database, this.hashes, digests, facts.identity(), damage, this.time),
				new BackgroundTasks());
	}

	private void recordIndexDamage() {
		var _ = writeVoid(batch -> batch.putMeta(IndexBuilder.RECORD, IndexBuilder.DAMAGED)).toFuture()
			.whenComplete((_, error) -> {
				if (error != null) {
					logger.warn("Damage of the index could not be recorded; the next start finds it again: {}",
							error.getMessage());
				}
			});
	}

	@Override
	public Mono<Entry> read(Key key, Deadline deadline) {
		return Mono.defer(() -> this.entries.read(key, deadline));
	}

	@Override
	public Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return this.pages.read(deadline, opened -> new PageReader(opened.database()).read(range, limit));
	}

	@Override
	public Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline) {
		return store(key, entry, Acceptor::store, deadline);
	}

	@Override
	public Mono<StoreOutcome> repair(Key key, Entry entry, Deadline deadline) {
		return store(key, entry, Acceptor::repair, deadline).doOnNext(outcome -> {
			if (outcome.verdict() == Verdict.TAKEN) {
				this.repairedBytes.add((long) key.bytes().length + EntryFormat.usualLength(entry));
			}
		});
	}

	@Override
	public Mono<Long> liveBytes() {
		return this.repairs.read(Deadline.after(this.time, SIZE_TIMEOUT),
				opened -> new LiveSize(opened.database()).bytes());
	}

	@Override
	public long repairedBytes() {
		return this.repairedBytes.sum();
	}

	@Override
	public Mono<StoreOutcome> accept(Key key, Entry entry, Version base, Deadline deadline) {
		return store(key, entry, (state, version) -> state.accept(version, base), deadline);
	}

	private Mono<StoreOutcome> store(Key key, Entry entry, Rule rule, Deadline deadline) {
		return Mono
			.create(sink -> submit(new Change.Store(IndexedKey.of(key, this.hashes), EncodedEntry.of(key, entry), rule),
					deadline, sink));
	}

	@Override
	public Mono<StoreOutcome> prepare(Key key, Version ballot, Deadline deadline) {
		return Mono.create(sink -> submit(new Change.Prepare(IndexedKey.of(key, this.hashes), ballot), deadline, sink));
	}

	@Override
	public Mono<Version> promised(Key key, Deadline deadline) {
		return this.repairs.read(deadline, opened -> indexReader(opened).promised(key));
	}

	@Override
	public boolean hasRoomFor(int valueBytes) {
		return limitFor(valueBytes) == null;
	}

	@Override
	public @Nullable Overloaded refuseWrite(int valueBytes) {
		Overloaded limit = limitFor(valueBytes);
		if (limit != null) {
			this.events.overloaded();
		}
		return limit;
	}

	private @Nullable Overloaded limitFor(int valueBytes) {
		OpenStore opened = this.gate.openedOrNull();
		return (opened != null) ? opened.committer().limitFor(valueBytes) : null;
	}

	@Override
	public long silentNanos() {
		return this.entries.silentNanos();
	}

	@Override
	public Mono<Void> probe() {
		// It takes no space itself, and is written after a look at what is free.
		return writeVoid(batch -> batch.putMeta(NodeFacts.PROBE, NodeFacts.bytes(this.time.millis())))
			.onErrorResume(ex -> (ex instanceof Overloaded || ex instanceof WriteTimedOut) && isBusy(),
					_ -> Mono.empty())
			.then(Mono.defer(() -> {
				NoSpace low = this.gate.opened().committer().lowSpace();
				return (low != null) ? Mono.error(low) : Mono.empty();
			}));
	}

	/** Whether the disk takes what others write, although it does not keep up. */
	private boolean isBusy() {
		OpenStore opened = this.gate.openedOrNull();
		return opened != null && opened.committer().hasWrittenWithin(HUNG_AFTER);
	}

	@Override
	public Digests digests() {
		return this.gate.opened().derived().digests();
	}

	@Override
	public <T> Mono<T> ofDigests(Function<Digests, T> work, Deadline deadline) {
		return this.repairs.read(deadline, opened -> work.apply(opened.derived().digests()));
	}

	@Override
	public KeyHash keyHash() {
		return this.hashes;
	}

	@Override
	public Mono<List<List<EntryHeader>>> headers(List<Integer> partitions, int enough, Deadline deadline) {
		return this.repairs.read(deadline, opened -> indexReader(opened).headers(partitions, enough));
	}

	@Override
	public Mono<List<EntryHeader>> headers(KeyRange range, int limit, Deadline deadline) {
		return this.repairs.read(deadline, opened -> collectorReader(opened).headers(range, limit));
	}

	private static IndexReader indexReader(OpenStore opened) {
		return new IndexReader(opened.database(), opened.damage());
	}

	private CollectorReader collectorReader(OpenStore opened) {
		return new CollectorReader(opened.database(), this.events);
	}

	@Override
	public @Nullable String damage() {
		OpenStore opened = this.gate.openedOrNull();
		return (opened != null) ? opened.damage().found() : null;
	}

	@Override
	public Mono<Page> fetch(List<Key> keys, Page.Limit limit, Deadline deadline) {
		return this.repairs.read(deadline, opened -> new PageReader(opened.database()).fetch(keys, limit));
	}

	@Override
	public Mono<Boolean> remove(Key key, Version version, long promisedBeforeMillis) {
		IndexedKey indexed = IndexedKey.of(key, this.hashes);
		return Mono
			.create(sink -> submit(batch -> batch.remove(indexed, version, promisedBeforeMillis), Deadline.NONE, sink));
	}

	@Override
	public Mono<List<PromiseRecord>> promises(@Nullable Key after, int limit, Deadline deadline) {
		return this.repairs.read(deadline, opened -> indexReader(opened).promises(after, limit));
	}

	@Override
	public Mono<List<PromiseRecord>> readable(@Nullable Key after, int limit, Deadline deadline) {
		return this.repairs.read(deadline, opened -> collectorReader(opened).promises(after, limit));
	}

	@Override
	public Mono<Void> keep(Key key, Version promise) {
		IndexedKey indexed = IndexedKey.of(key, this.hashes);
		return writeVoid(batch -> batch.keepPromise(indexed, promise));
	}

	@Override
	public Mono<Void> forget(PromiseRecord promise) {
		IndexedKey indexed = IndexedKey.of(promise.key(), this.hashes);
		return writeVoid(batch -> batch.forgetPromise(indexed, promise.ballot()));
	}

	@Override
	public Mono<List<TombstoneRecord>> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit,
			Deadline deadline) {
		return this.repairs.read(deadline, opened -> collectorReader(opened).tombstones(after, beforeMillis, limit));
	}

	@Override
	public Mono<Boolean> add(long target, Key key, Entry entry) {
		return Mono
			.create(sink -> submit(new Change.AddHint(target, key, EncodedEntry.of(key, entry)), Deadline.NONE, sink));
	}

	@Override
	public Mono<List<Hint>> oldest(long target, int maxBytes, int maxItems, Deadline deadline) {
		return this.repairs.read(deadline, opened -> {
			Version from = opened.derived().hints().oldest(target);
			return (from != null) ? new HintReader(opened.database()).oldest(target, from, maxBytes, maxItems)
					: List.of();
		});
	}

	@Override
	public Mono<Void> remove(Hint hint) {
		return writeVoid(batch -> batch.hints().remove(hint.target(), hint.key(), hint.entry().version()));
	}

	@Override
	public Mono<Void> removeAll(long target) {
		return writeVoid(batch -> batch.hints().removeAll(target));
	}

	@Override
	public Waiting waiting(long target) {
		return this.gate.opened().derived().hints().waiting(target);
	}

	@Override
	public Set<Long> targets() {
		return this.gate.opened().derived().hints().targets();
	}

	/**
	 * Removes an expired entry; the committer hands the result over on its own thread.
	 */
	private Mono<Boolean> collect(Expiry expiry) {
		IndexedKey key = IndexedKey.of(expiry.key(), this.hashes);
		boolean buried = this.settings.leavesTombstones();
		return Mono
			.create(sink -> submit(batch -> batch.collect(expiry, key, buried), Deadline.NONE, sink, Runnable::run));
	}

	private Mono<Void> writeVoid(VoidChange change) {
		return Mono.create(sink -> submit(batch -> {
			change.addTo(batch);
			return null;
		}, Deadline.NONE, sink));
	}

	private <T> void submit(Change<T> change, Deadline deadline, MonoSink<T> sink) {
		submit(change, deadline, sink, this.callers.current());
	}

	private <T> void submit(Change<T> change, Deadline deadline, MonoSink<T> sink, Executor caller) {
		OpenStore opened = this.gate.openedOrNull();
		if (opened == null) {
			sink.error(StoreGate.notOpen());
			return;
		}
		try {
			opened.committer().submit(new Write<>(change, sink, caller, this.time.nanos(), deadline));
		}
		catch (StorageException ex) {
			sink.error(ex);
		}
	}

	@Override
	public long identity() {
		return this.gate.opened().facts().identity();
	}

	@Override
	public boolean isNew() {
		return this.gate.opened().facts().isNew();
	}

	@Override
	public long clockBoundMillis() {
		return this.gate.opened().facts().clockBoundMillis();
	}

	@Override
	public CompletionStage<?> storeClockBound(long millis) {
		return writeVoid(batch -> batch.putMeta(NodeFacts.CLOCK_BOUND, NodeFacts.bytes(millis))).toFuture();
	}

	@Override
	public byte @Nullable [] recorded(String name) {
		return this.gate.opened().facts().records().get(name);
	}

	@Override
	public Mono<Void> record(String name, byte[] value) {
		return Mono.defer(() -> {
			Map<String, byte[]> records = this.gate.opened().facts().records();
			return writeVoid(batch -> {
				batch.putMeta(NodeFacts.rowOf(name), value);
				batch.whenWritten(() -> records.put(name, value));
			});
		});
	}

	/** Checkpoints of this store, and of copies that are not open. */
	public Checkpoints checkpoints() {
		return new RocksCheckpoints(this.gate, this.settings, this.identities);
	}

	/** Collects what has expired by now, outside of the schedule; for tests. */
	void collectExpired() {
		this.gate.opened().collector().collect();
	}

	/** The cache of rows; for tests, which write into it instead of the committer. */
	RowCache rows() {
		return this.gate.opened().derived().rows();
	}

	/** Whether writes are refused, or the last one failed, because the disk is full. */
	boolean isOutOfSpace() {
		OpenStore now = this.gate.openedOrNull();
		return now != null && now.committer().isOutOfSpace();
	}

	@Override
	public List<Measure> measures() {
		return new RocksMeasures(this.gate).all();
	}

	/**
	 * Closes the store: stops background tasks, finishes the queued writes, waits for
	 * running reads, saves the digests, and writes memtables to tables.
	 */
	public synchronized void close() {
		OpenStore now = this.gate.openedOrNull();
		if (now != null) {
			now.tasks().close();
			this.gate.shut();
			now.committer().close();
			this.gate.close();
			DigestBuild build = now.build();
			if (build != null) {
				build.close();
			}
			saveAndFlush(now);
			now.database().close();
		}
	}

	private void saveAndFlush(OpenStore store) {
		try {
			if (store.committer().hasWrittenAll()) {
				SavedDigests.save(store.database(), store.derived().digests());
			}
			store.database().flush();
		}
		catch (RocksDBException ex) {
			logger.warn("Memtables were not written to tables, the next start of {} replays the log: {}",
					this.settings.path(), ex.getMessage());
		}
	}

	@Override
	public String toString() {
		return "RocksStorage[" + this.settings.path() + "]";
	}

	/** A {@link Change} without a result. */
	private interface VoidChange {

		void addTo(Batch batch) throws RocksDBException;

	}

}
