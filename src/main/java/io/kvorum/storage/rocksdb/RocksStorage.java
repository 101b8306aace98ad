package io.kvorum.storage.rocksdb;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.EngineMeasures;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.NodeRecord;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.ReadTimedOut;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.storage.StoreOpenException;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/**
 * The storage engine on RocksDB.
 * <p>
 * <b>Reads</b> look into memory on the calling thread, which may be an event loop: the
 * memtables and the block cache answer within microseconds. Only where they cannot tell
 * does a read go to the storage scheduler. Rejected: {@code keyMayExist}, which is faster
 * where memory cannot tell, but calls any error "absent".
 * <p>
 * <b>Pages of ranges</b> are read on threads of their own, so that a read of one entry
 * never waits behind them.
 * <p>
 * <b>Writes</b> go to the {@link Committer}.
 */
public final class RocksStorage implements StorageEngine, NodeRecord, EngineMeasures {

	private static final Logger logger = LoggerFactory.getLogger(RocksStorage.class);

	private static final byte[] IDENTITY = name("identity");

	private static final byte[] CLOCK_BOUND = name("clock-bound");

	private static final byte[] PROBE = name("probe");

	/** How often it is looked whether the disk hangs. */
	private static final Duration OVERDUE_INTERVAL = Duration.ofMillis(100);

	private final RocksSettings settings;

	private final TimeSource time;

	private final LongSupplier identities;

	private final RocksSchedulers schedulers;

	private final CallerThreads callers;

	private final StorageEvents events;

	private final Consumer<Throwable> whenFailed;

	private final Gate gate = new Gate();

	private final Silence silence = new Silence();

	private volatile @Nullable Opened opened;

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
	 * An engine that is not open yet.
	 * @param identities gives the identity of a new store; at random
	 * @param schedulers where reads go; bounded, and disposed of by their owner
	 * @param whenFailed told once, by the committer's thread, when the store has failed
	 * and takes no more writes; the process should end then, so that what is on disk is
	 * found out by opening it again
	 */
	public RocksStorage(RocksSettings settings, TimeSource time, LongSupplier identities, RocksSchedulers schedulers,
			CallerThreads callers, StorageEvents events, Consumer<Throwable> whenFailed) {
		this.settings = settings;
		this.time = time;
		this.identities = identities;
		this.schedulers = schedulers;
		this.callers = callers;
		this.events = events;
		this.whenFailed = whenFailed;
	}

	/**
	 * Opens the store, or makes a new one.
	 * @throws StoreOpenException if that cannot be done; its message is for an operator
	 */
	public synchronized void open() {
		Database database = Database.open(this.settings);
		try {
			long identity = readOrMakeIdentity(database);
			long clockBound = readLong(database, CLOCK_BOUND, 0);
			Committer committer = new Committer(database, this.settings, this.time, this.events, this.whenFailed);
			ExpiryCollector collector = new ExpiryCollector(database, this::collect, this.time, this.events);
			Chores chores = new Chores();
			this.opened = new Opened(database, committer, collector, chores, identity, clockBound);
			committer.start();
			this.gate.open();
			chores.every(OVERDUE_INTERVAL, "overdue writes", committer::tellOverdue);
			chores.every(this.settings.collectInterval(), "expired entries", collector::collect);
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

	private long readOrMakeIdentity(Database database) throws RocksDBException {
		long identity = readLong(database, IDENTITY, 0);
		if (identity == 0) {
			identity = this.identities.getAsLong();
			database.db.put(database.meta, database.synced, IDENTITY, bytes(identity));
		}
		return identity;
	}

	private static long readLong(Database database, byte[] name, long otherwise) throws RocksDBException {
		byte[] value = database.db.get(database.meta, name);
		return (value != null) ? ByteBuffer.wrap(value).getLong() : otherwise;
	}

	@Override
	public Mono<Entry> read(Key key, Deadline deadline) {
		return Mono.defer(() -> readFromMemory(key, deadline));
	}

	private Mono<Entry> readFromMemory(Key key, Deadline deadline) {
		if (!this.gate.enter()) {
			return Mono.error(notOpen());
		}
		byte[] bytes;
		try {
			Database database = opened().database;
			bytes = database.db.get(database.entries, database.fromMemory, key.bytes());
		}
		catch (RocksDBException ex) {
			return Failures.isNotInMemory(ex) ? readFromDisk(key, deadline) : Mono.error(unreadable(ex));
		}
		finally {
			this.gate.leave();
		}
		this.events.readFromMemory();
		return (bytes != null) ? decode(key, bytes) : Mono.empty();
	}

	private Mono<Entry> readFromDisk(Key key, Deadline deadline) {
		long started = this.time.nanos();
		Duration limit = Duration
			.ofNanos(Math.min(this.settings.readTimeout().toNanos(), deadline.atNanos() - started));
		Executor caller = this.callers.current();
		return Mono.<Entry>create(sink -> readFromDisk(key, started, sink))
			.subscribeOn(this.schedulers.reads())
			.timeout(limit)
			.onErrorMap(TimeoutException.class, _ -> new ReadTimedOut(limit))
			.onErrorMap(RejectedExecutionException.class, _ -> {
				this.events.overloaded();
				return new Overloaded("kvorum.storage.read-queue-length", this.settings.readQueueLength());
			})
			.publishOn(Schedulers.fromExecutor(caller));
	}

	private void readFromDisk(Key key, long started, MonoSink<Entry> sink) {
		if (!this.gate.enter()) {
			sink.error(notOpen());
			return;
		}
		this.silence.asked(this.time.nanos());
		byte[] bytes;
		try {
			Database database = opened().database;
			bytes = database.db.get(database.entries, database.fromAnywhere, key.bytes());
		}
		catch (RocksDBException ex) {
			sink.error(unreadable(ex));
			return;
		}
		finally {
			this.silence.answered(this.time.nanos());
			this.gate.leave();
		}
		this.events.readFromDisk(this.time.nanos() - started);
		try {
			sink.success((bytes != null) ? EntryFormat.decode(key, bytes) : null);
		}
		catch (DamagedEntryException ex) {
			sink.error(unreadable(ex));
		}
	}

	private Mono<Entry> decode(Key key, byte[] bytes) {
		try {
			return Mono.just(EntryFormat.decode(key, bytes));
		}
		catch (DamagedEntryException ex) {
			return Mono.error(unreadable(ex));
		}
	}

	@Override
	public Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return Mono.defer(() -> {
			Duration timeout = Duration.ofNanos(deadline.atNanos() - this.time.nanos());
			return Mono.fromCallable(() -> readPage(range, limit))
				.subscribeOn(this.schedulers.ranges())
				.timeout(timeout)
				.onErrorMap(TimeoutException.class, _ -> new ReadTimedOut(timeout))
				.onErrorMap(RejectedExecutionException.class, _ -> {
					this.events.overloaded();
					return new Overloaded("kvorum.range.queue-length", this.settings.rangeQueueLength());
				})
				.publishOn(Schedulers.fromExecutor(this.callers.current()));
		});
	}

	private Page readPage(KeyRange range, Page.Limit limit) {
		if (!this.gate.enter()) {
			throw notOpen();
		}
		try {
			return new PageReader(opened().database).read(range, limit);
		}
		catch (RocksDBException | DamagedEntryException ex) {
			throw unreadable(ex);
		}
		finally {
			this.gate.leave();
		}
	}

	private Unreadable unreadable(Exception cause) {
		this.events.unreadable();
		return new Unreadable(cause);
	}

	@Override
	public Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline) {
		return Mono.create(sink -> {
			long expiresAt = (entry instanceof Live live) ? live.expiresAtMillis() : Live.NEVER;
			submit(new Write.Store(key, entry.version(), expiresAt, EntryFormat.encode(key, entry), sink,
					this.callers.current(), this.time.nanos(), deadline), sink);
		});
	}

	@Override
	public long silentNanos() {
		return this.silence.nanos(this.time.nanos());
	}

	@Override
	public Mono<Void> probe() {
		return writeMeta(PROBE, this.time.millis());
	}

	private Mono<Void> writeMeta(byte[] name, long value) {
		return Mono
			.create(sink -> submit(new Write.Meta(name, bytes(value), sink, this.callers.current(), this.time.nanos()),
					sink));
	}

	private Mono<Boolean> collect(Expiry expiry) {
		return Mono.create(sink -> submit(
				new Write.Collect(expiry, this.settings.leavesTombstones(), sink, Runnable::run, this.time.nanos()),
				sink));
	}

	private void submit(Write<?> write, MonoSink<?> sink) {
		Opened now = this.opened;
		if (now == null) {
			sink.error(notOpen());
			return;
		}
		try {
			now.committer.submit(write);
		}
		catch (StorageException ex) {
			sink.error(ex);
		}
	}

	@Override
	public long identity() {
		return opened().identity;
	}

	@Override
	public long clockBoundMillis() {
		return opened().clockBoundMillis;
	}

	@Override
	public CompletionStage<?> storeClockBound(long millis) {
		return writeMeta(CLOCK_BOUND, millis).toFuture();
	}

	@Override
	public boolean isNew() {
		throw new UnsupportedOperationException();
	}

	@Override
	public byte @Nullable [] recorded(String name) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Mono<Void> record(String name, byte[] value) {
		throw new UnsupportedOperationException();
	}

	/** Collects what has expired by now; for tests, beside the schedule. */
	void collectExpired() {
		opened().collector.collect();
	}

	/** Whether writes are refused, or failed just now, because the disk is full. */
	boolean isOutOfSpace() {
		Opened now = this.opened;
		return now != null && now.committer.isOutOfSpace();
	}

	@Override
	public List<Measure> measures() {
		return new RocksMeasures(this.gate, this::opened).all();
	}

	/**
	 * Closes the store: finishes the writes that are queued, waits for reads that are
	 * inside, writes memtables to tables.
	 */
	public synchronized void close() {
		Opened now = this.opened;
		if (now != null) {
			now.chores.close();
			this.opened = null;
			now.committer.close();
			this.gate.close();
			flush(now.database);
			now.database.close();
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

	private Opened opened() {
		Opened now = this.opened;
		if (now == null) {
			throw notOpen();
		}
		return now;
	}

	private static Unavailable notOpen() {
		return new Unavailable("the store is not open");
	}

	private static byte[] bytes(long number) {
		return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
	}

	private static byte[] name(String name) {
		return name.getBytes(StandardCharsets.US_ASCII);
	}

	@Override
	public String toString() {
		return "RocksStorage[" + this.settings.path() + "]";
	}

	/** What exists while the store is open. */
	record Opened(Database database, Committer committer, ExpiryCollector collector, Chores chores, long identity,
			long clockBoundMillis) {
	}

}
