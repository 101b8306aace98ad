package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.Checkpoints;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EngineMeasures;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.ExpiryHorizon;
import io.kvorum.storage.Hint;
import io.kvorum.storage.HintLog;
import io.kvorum.storage.NodeRecord;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StoreOpenException;
import io.kvorum.storage.TombstoneRecord;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The storage engine on RocksDB.
 * <p>
 * <b>Reads</b> look into memory on the calling thread, which may be an event loop: the
 * {@link RowCache}, the memtables and the block cache answer within microseconds. Only
 * where they cannot tell does a read go to the storage scheduler. Rejected:
 * {@code keyMayExist}, which is faster where memory cannot tell, but calls any error
 * "absent".
 * <p>
 * <b>Pages of ranges</b> are read on threads of their own, so that a read of one entry
 * never waits behind them; so is what repair asks for.
 * <p>
 * <b>Writes</b> go to the {@link Committer}.
 */
public final class RocksStorage implements StorageEngine, PartitionIndex, HintLog, NodeRecord, EngineMeasures {

	private static final Logger logger = LoggerFactory.getLogger(RocksStorage.class);

	/** The interval between checks whether the disk hangs. */
	private static final Duration OVERDUE_INTERVAL = Duration.ofMillis(100);

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

	/**
	 * Loads the native library, which takes a few tenths of a second; for an application
	 * to do while it starts. Opening a store does it in any case, and tells where it
	 * fails.
	 */
	public static void preload() {
		try {
			NativeLibrary.load();
		}
		catch (StoreOpenException _) {
			// To be met again, and told, by open().
		}
	}

	/**
	 * Creates an engine that is not open.
	 * @param hashes the hash that partitions go by: the same at every open
	 * @param identities gives the identity of a new store, at random
	 * @param schedulers the schedulers of reads; bounded, and disposed of by their owner
	 * @param whenFailed called once, on the committer's thread, when the store has failed
	 * and takes no more writes. The process should end then: opening the store again
	 * finds out what is on disk.
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
	 * Opens the store, or makes a new one.
	 * @throws StoreOpenException if that cannot be done; its message is for an operator
	 */
	public synchronized void open() {
		Database database = Database.open(this.settings);
		try {
			OpenStore opened = open(database);
			this.gate.prepare(opened);
			opened.committer().start();
			this.gate.open();
			Chores chores = opened.chores();
			chores.every(OVERDUE_INTERVAL, "overdue writes", opened.committer()::tellOverdue);
			chores.every(this.settings.collectInterval(), "expired entries", opened.collector()::collect);
			chores.once("digests", opened.build()::run);
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
		NodeFacts facts = NodeFacts.read(database, this.identities);
		IndexDamage damage = new IndexDamage(this.events, this::recordIndexDamage);
		new IndexBuilder(database, this.hashes, this.time, damage).buildIfMissing();
		Derived derived = new Derived(new Digests(this.settings.factor()), HintCounts.read(database),
				new RowCache(Math.toIntExact(this.settings.rowCacheBytes())));
		return new OpenStore(database, facts, damage, derived,
				new Committer(database, derived, this.settings, this.time, this.events, this.whenFailed),
				new ExpiryCollector(database, this::collect, new ExpiryHorizon(this.time, this.settings.expiryMargin()),
						this.events),
				new DigestBuild(database, this.hashes, derived.digests(), facts.identity(), damage, this.time),
				new Chores());
	}

	private void recordIndexDamage() {
		var _ = writeMeta(IndexBuilder.RECORD, IndexBuilder.DAMAGED, _ -> {
		}).toFuture().whenComplete((_, error) -> {
			if (error != null) {
				logger.warn("Damage of the index could not be recorded, the next start finds it again: {}",
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
		return write(_ -> new Change.Store(IndexedKey.of(key, this.hashes), EncodedEntry.of(key, entry)), deadline,
				this.callers::current);
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
		OpenStore opened = this.gate.storeOrNull();
		return (opened != null) ? opened.committer().limitFor(valueBytes) : null;
	}

	@Override
	public long silentNanos() {
		return this.entries.silentNanos();
	}

	@Override
	public Mono<Void> probe() {
		return writeMeta(NodeFacts.PROBE, NodeFacts.bytes(this.time.millis()), _ -> {
		});
	}

	private Mono<Void> writeMeta(byte[] name, byte[] value, Consumer<NodeFacts> whenWritten) {
		return write(opened -> new Change.PutMeta(name, value, () -> whenWritten.accept(opened.facts())));
	}

	@Override
	public Digests digests() {
		return this.gate.store().derived().digests();
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
		return this.repairs.read(deadline, opened -> {
			try {
				return new IndexReader(opened.database()).headers(partitions, enough);
			}
			catch (RocksDBException ex) {
				opened.damage().met(ex);
				throw ex;
			}
		});
	}

	@Override
	public @Nullable String damage() {
		OpenStore opened = this.gate.storeOrNull();
		return (opened != null) ? opened.damage().found() : null;
	}

	@Override
	public Mono<Page> fetch(List<Key> keys, Page.Limit limit, Deadline deadline) {
		return this.repairs.read(deadline, opened -> new PageReader(opened.database()).fetch(keys, limit));
	}

	@Override
	public Mono<Boolean> remove(Key key, Version version) {
		return write(_ -> new Change.Remove(IndexedKey.of(key, this.hashes), version));
	}

	@Override
	public Mono<List<TombstoneRecord>> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit,
			Deadline deadline) {
		return this.repairs.read(deadline,
				opened -> new IndexReader(opened.database()).tombstones(after, beforeMillis, limit));
	}

	@Override
	public Mono<Boolean> add(long target, Key key, Entry entry) {
		return write(_ -> new Change.AddHint(target, key, EncodedEntry.of(key, entry)));
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
		return write(_ -> new Change.RemoveHint(hint.target(), hint.key(), hint.entry().version()));
	}

	@Override
	public Mono<Void> removeAll(long target) {
		return write(_ -> new Change.RemoveHints(target));
	}

	@Override
	public Waiting waiting(long target) {
		return this.gate.store().derived().hints().waiting(target);
	}

	@Override
	public Set<Long> targets() {
		return this.gate.store().derived().hints().targets();
	}

	private Mono<Boolean> collect(Expiry expiry) {
		return write(_ -> new Change.Collect(expiry, IndexedKey.of(expiry.key(), this.hashes),
				this.settings.leavesTombstones()), Deadline.NONE, () -> Runnable::run);
	}

	private <T> Mono<T> write(Function<OpenStore, Change<T>> change) {
		return write(change, Deadline.NONE, this.callers::current);
	}

	/**
	 * Gives a change to the committer.
	 * @param change makes it, on the thread that subscribes
	 * @param caller the executor on which the result arrives
	 */
	private <T> Mono<T> write(Function<OpenStore, Change<T>> change, Deadline deadline, Supplier<Executor> caller) {
		return Mono.create(sink -> {
			OpenStore opened = this.gate.storeOrNull();
			if (opened == null) {
				sink.error(StoreGate.notOpen());
				return;
			}
			try {
				opened.committer()
					.submit(new Write<>(change.apply(opened), sink, caller.get(), this.time.nanos(), deadline));
			}
			catch (StorageException ex) {
				sink.error(ex);
			}
		});
	}

	@Override
	public long identity() {
		return this.gate.store().facts().identity();
	}

	@Override
	public boolean isNew() {
		return this.gate.store().facts().isNew();
	}

	@Override
	public long clockBoundMillis() {
		return this.gate.store().facts().clockBoundMillis();
	}

	@Override
	public CompletionStage<?> storeClockBound(long millis) {
		return writeMeta(NodeFacts.CLOCK_BOUND, NodeFacts.bytes(millis), _ -> {
		}).toFuture();
	}

	@Override
	public byte @Nullable [] recorded(String name) {
		return this.gate.store().facts().records().get(name);
	}

	@Override
	public Mono<Void> record(String name, byte[] value) {
		return writeMeta(NodeFacts.rowOf(name), value, facts -> facts.records().put(name, value));
	}

	/** Copies of this store, and of others that are not open. */
	public Checkpoints checkpoints() {
		return new RocksCheckpoints(this.gate, this.settings, this.identities);
	}

	/** Collects what has expired by now; for tests, beside the schedule. */
	void collectExpired() {
		this.gate.store().collector().collect();
	}

	/**
	 * The rows that were written or read lately. Tests write into it like the committer.
	 */
	RowCache rows() {
		return this.gate.store().derived().rows();
	}

	/** Whether writes are refused, or have just failed, because the disk is full. */
	boolean isOutOfSpace() {
		OpenStore now = this.gate.storeOrNull();
		return now != null && now.committer().isOutOfSpace();
	}

	@Override
	public List<Measure> measures() {
		return new RocksMeasures(this.gate).all();
	}

	/**
	 * Closes the store: finishes the writes that are queued, waits for reads that are
	 * inside, writes memtables to tables.
	 */
	public synchronized void close() {
		OpenStore now = this.gate.storeOrNull();
		if (now != null) {
			now.chores().close();
			this.gate.shut();
			now.committer().close();
			this.gate.close();
			now.build().close();
			flush(now.database());
			now.database().close();
		}
	}

	private void flush(Database database) {
		try {
			database.flush();
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

}
