package io.kvorum.storage.rocksdb;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Key;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.Durability;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.storage.StorageException.WriteFailed;
import io.kvorum.storage.StorageException.WriteTimedOut;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes: group commit.
 * <p>
 * Callers put writes into a bounded queue. The thread takes queued writes, compares each
 * with what is stored, writes and syncs the batch, and completes the callers. During a
 * sync the next batch gathers. So the disk gets as many syncs as it can take, at any
 * load. With a single writer, "store if newer" needs no locks, and all writes of a batch
 * share a sync. Only this thread knows whether a row that a read has found is still the
 * newest and may be cached.
 * <p>
 * <b>Failures.</b> A write whose stored entry cannot be read fails alone. A full disk
 * fails the batch. Later writes that need space are refused before they are tried, until
 * a probe succeeds. Any other disk error is final, since RocksDB cannot say what has
 * reached the disk. The committer then takes no more writes and calls {@code whenFailed}.
 * If a compaction found a damaged table, the {@link DamageMarker} lets the next start
 * avoid it.
 * <p>
 * <b>A disk that hangs</b> blocks the thread. Another thread calls {@link #failOverdue()}
 * periodically, which fails the overdue writes: queued ones will not be tried, begun ones
 * may be stored. So a write needs no timer of its own.
 */
final class Committer implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Committer.class);

	private static final int MAX_BATCH_WRITES = 1024;

	/** A batch of this size takes no more writes. */
	private static final long MAX_BATCH_BYTES = 4 << 20;

	/** The row that probes a disk that was full. */
	private static final byte[] PROBE = "probe".getBytes(StandardCharsets.US_ASCII);

	private final Database database;

	private final Derived derived;

	private final RocksSettings settings;

	private final TimeSource time;

	private final StorageEvents events;

	private final Consumer<Throwable> whenFailed;

	private final DamageMarker damage;

	private final FreeSpace space;

	/** Created once: under overload thousands are thrown, all alike. */
	private final Overloaded tooMany;

	private final Overloaded tooLarge;

	private final Queue<Write<?>> queue = new ConcurrentLinkedQueue<>();

	private final AtomicInteger queuedWrites = new AtomicInteger();

	private final AtomicLong queuedBytes = new AtomicLong();

	private final RowFills fills = new RowFills();

	private final Thread thread = new Thread(this::run, "kvorum-committer");

	private final AtomicBoolean parked = new AtomicBoolean();

	private volatile boolean closing;

	private volatile @Nullable Unavailable refusal;

	/** Whether a batch may or may not be on disk. */
	private volatile boolean unsure;

	/** Writes taken from the queue whose callers have no result yet. */
	private volatile List<Write<?>> taken = List.of();

	/** Whether the last write found the disk full. Set by the committer's thread only. */
	private volatile boolean full;

	/** When the disk took the last batch. */
	private volatile long writtenNanos;

	/**
	 * Whether the disk hung at the last check. Used by the thread that calls
	 * {@link #failOverdue()}.
	 */
	private boolean hangs;

	Committer(Database database, Derived derived, RocksSettings settings, TimeSource time, StorageEvents events,
			Consumer<Throwable> whenFailed) {
		this.database = database;
		this.derived = derived;
		this.settings = settings;
		this.time = time;
		this.events = events;
		this.whenFailed = whenFailed;
		this.damage = new DamageMarker(settings.path());
		this.space = new FreeSpace(settings.path(), settings.minFreeBytes(), time);
		this.tooMany = new Overloaded("kvorum.storage.write-queue-length", settings.writeQueueLength());
		this.tooLarge = new Overloaded("kvorum.storage.write-queue-size", settings.writeQueueBytes());
		this.thread.setDaemon(true);
	}

	void start() {
		this.writtenNanos = this.time.nanos();
		this.thread.start();
	}

	/**
	 * Queues a write.
	 * @throws StorageException if a limit is reached or the store is closed: the write is
	 * not queued
	 */
	void submit(Write<?> write) {
		Unavailable refused = this.refusal;
		if (refused != null) {
			throw refused;
		}
		if (this.closing) {
			throw new Unavailable("the store is closing");
		}
		reserve(write.weight());
		this.queue.add(write);
		wake();
		if (this.refusal != null) {
			// The thread may have ended before it could see this write.
			refuseQueued();
		}
	}

	private void wake() {
		if (this.parked.get() && this.parked.compareAndSet(true, false)) {
			LockSupport.unpark(this.thread);
		}
	}

	/**
	 * Caches a row that a read has found in the database, if it is still the newest when
	 * the committer takes it. Drops it if it is too long or too many rows wait.
	 * @param asOf the value of {@link RowCache#now()} before the read
	 */
	void keep(Key key, byte[] row, long asOf) {
		if (this.derived.rows().hasRoomFor(key, row) && this.fills.offer(key, row, asOf)) {
			wake();
		}
	}

	/** The limit that a write of this size would reach now; null if there is room. */
	@Nullable Overloaded limitFor(int bytes) {
		if (this.queuedWrites.get() >= this.settings.writeQueueLength()) {
			return this.tooMany;
		}
		long weight = (long) Write.OVERHEAD_BYTES + bytes;
		return (this.queuedBytes.get() + weight > this.settings.writeQueueBytes()) ? this.tooLarge : null;
	}

	private void reserve(int weight) {
		if (this.queuedWrites.incrementAndGet() > this.settings.writeQueueLength()) {
			this.queuedWrites.decrementAndGet();
			throw overloaded(this.tooMany);
		}
		if (this.queuedBytes.addAndGet(weight) > this.settings.writeQueueBytes()) {
			this.queuedWrites.decrementAndGet();
			this.queuedBytes.addAndGet(-weight);
			throw overloaded(this.tooLarge);
		}
	}

	private Overloaded overloaded(Overloaded limit) {
		this.events.overloaded();
		return limit;
	}

	private @Nullable Write<?> poll() {
		Write<?> write = this.queue.poll();
		if (write != null) {
			this.queuedWrites.decrementAndGet();
			this.queuedBytes.addAndGet(-write.weight());
		}
		return write;
	}

	/** Whether each batch is on disk, and in what is derived from it. */
	boolean hasWrittenAll() {
		return !this.unsure;
	}

	int queuedWrites() {
		return this.queuedWrites.get();
	}

	long queuedBytes() {
		return this.queuedBytes.get();
	}

	/**
	 * The age of the oldest unfinished write, in nanoseconds; 0 if there is none. By any
	 * thread.
	 */
	long oldestNanos() {
		List<Write<?>> underWay = this.taken;
		Write<?> oldest = underWay.isEmpty() ? this.queue.peek() : underWay.getFirst();
		return (oldest != null) ? this.time.nanos() - oldest.queuedNanos : 0;
	}

	/** Whether the disk has taken a batch in this time. From any thread. */
	boolean hasWrittenWithin(Duration pause) {
		return this.time.nanos() - this.writtenNanos <= pause.toNanos();
	}

	boolean isOutOfSpace() {
		return lowSpace() != null || this.full;
	}

	/**
	 * Why the last writes that need space were refused, or would have been; null if there
	 * was enough. From any thread.
	 */
	@Nullable NoSpace lowSpace() {
		return this.space.lastRefusal();
	}

	private void run() {
		try (Batch batch = new Batch(this.database, this.derived, this.time)) {
			while (this.refusal == null && awaitWork()) {
				this.fills.drainTo(this.derived.rows());
				this.taken = take();
				if (!this.taken.isEmpty()) {
					commit(this.taken, batch);
					handBack(this.taken);
					this.taken = List.of();
					batch.clear();
				}
			}
		}
		catch (RuntimeException | Error ex) {
			// A bug: what was in the batch may have been written.
			this.unsure = true;
			fail(ex);
			this.taken.forEach(write -> write.fail(new WriteFailed(ex)));
			handBack(this.taken);
		}
		if (this.refusal == null) {
			this.refusal = new Unavailable("the store is closed");
		}
		refuseQueued();
	}

	/** Waits for work; false if the committer is closing and there is none. */
	private boolean awaitWork() {
		while (!hasWork()) {
			if (this.closing) {
				return false;
			}
			this.parked.set(true);
			// Set before the check: callers add before they read it, so no wake-up is
			// lost.
			if (!hasWork() && !this.closing) {
				LockSupport.park(this);
			}
			this.parked.set(false);
		}
		return true;
	}

	private boolean hasWork() {
		return !this.queue.isEmpty() || this.fills.areEnough();
	}

	private List<Write<?>> take() {
		List<Write<?>> taken = new ArrayList<>();
		long bytes = 0;
		while (taken.size() < MAX_BATCH_WRITES && bytes < MAX_BATCH_BYTES) {
			Write<?> write = poll();
			if (write == null) {
				break;
			}
			bytes += write.weight();
			taken.add(write);
		}
		return taken;
	}

	private void commit(List<Write<?>> taken, Batch batch) {
		long started = this.time.nanos();
		batch.limitTo(noSpace());
		int added = 0;
		for (Write<?> write : taken) {
			added += add(write, batch, started) ? 1 : 0;
		}
		if (batch.isEmpty()) {
			return;
		}
		try {
			batch.write(this.settings.durability() == Durability.FSYNC);
			this.full = false;
			this.writtenNanos = this.time.nanos();
		}
		catch (RocksDBException ex) {
			this.unsure = true;
			StorageException failure = failureOf(ex);
			taken.forEach(write -> write.failUnlessFailed(failure));
			batch.failed();
			return;
		}
		batch.apply();
		this.events.batchWritten(added, started - taken.getFirst().queuedNanos, this.time.nanos() - started);
	}

	private boolean add(Write<?> write, Batch batch, long now) {
		if (!write.begin()) {
			return false;
		}
		if (write.isOverdue(now, this.settings.writeQueueTime())) {
			write.fail(waitedTooLong(write, now));
			return false;
		}
		try {
			write.addTo(batch);
			return true;
		}
		catch (NoSpace ex) {
			this.events.outOfSpace();
			write.fail(ex);
			return false;
		}
		catch (RocksDBException | DamagedEntryException ex) {
			this.events.unreadable();
			write.fail(new Unreadable(ex));
			return false;
		}
	}

	private Overloaded waitedTooLong(Write<?> write, long now) {
		Duration limit = this.settings.writeQueueTime();
		return overloaded(write.hasWaited(limit, now) ? new Overloaded("kvorum.storage.write-queue-time", limit)
				: Overloaded.tooLate());
	}

	/**
	 * Fails writes that are overdue or past their caller's deadline. Logs when the disk
	 * hangs and when it answers again. By one thread at a time.
	 */
	void failOverdue() {
		long now = this.time.nanos();
		for (Write<?> write : this.taken) {
			if (write.isOverdue(now, this.settings.writeTimeout())) {
				write.timeOut(() -> waitedTooLong(write, now), () -> new WriteTimedOut(this.settings.writeTimeout()));
			}
		}
		for (Write<?> write : this.queue) {
			if (write.isOverdue(now, this.settings.writeQueueTime())) {
				write.timeOut(() -> waitedTooLong(write, now), () -> waitedTooLong(write, now));
			}
		}
		tellWhetherItHangs();
	}

	private void tellWhetherItHangs() {
		boolean now = !this.taken.isEmpty() && oldestNanos() > this.settings.writeTimeout().toNanos();
		if (now && !this.hangs) {
			logger.warn("The disk hangs: what has been under way for more than {} ms may have been written, and later "
					+ "writes are refused until it answers", this.settings.writeTimeout().toMillis());
		}
		else if (this.hangs && !now && this.refusal == null) {
			logger.info("The disk answers again");
		}
		this.hangs = now;
	}

	/** The reason for refusing writes that need space; null if there is space. */
	private @Nullable NoSpace noSpace() {
		NoSpace low = this.space.refusal();
		if (low != null || !this.full) {
			return low;
		}
		try {
			this.database.db.put(this.database.meta, this.database.synced, PROBE, PROBE);
			this.full = false;
			return null;
		}
		catch (RocksDBException ex) {
			return Failures.isNoSpace(ex) ? NoSpace.refused(ex) : null;
		}
	}

	private StorageException failureOf(RocksDBException ex) {
		StorageException failure = Failures.writing(ex);
		switch (failure) {
			case NoSpace _ -> {
				this.full = true;
				this.events.outOfSpace();
			}
			default -> {
				if (Failures.isDamage(ex)) {
					this.damage.set(String.valueOf(ex.getMessage()));
				}
				fail(ex);
			}
		}
		return failure;
	}

	private void fail(Throwable cause) {
		this.refusal = new Unavailable("the store has failed: " + cause.getMessage());
		try {
			this.whenFailed.accept(cause);
		}
		catch (RuntimeException ex) {
			// The queued writes still have to be completed.
			logger.error("The store has failed, and so has the callback that reports it", ex);
		}
	}

	/** Completes writes, by one task for each executor that waits for some. */
	private static void handBack(List<Write<?>> writes) {
		IdentityHashMap<Executor, List<Write<?>>> byCaller = new IdentityHashMap<>();
		for (Write<?> write : writes) {
			byCaller.computeIfAbsent(write.caller, caller -> new ArrayList<>(writes.size())).add(write);
		}
		byCaller.forEach(Committer::handBack);
	}

	private static void handBack(Executor caller, List<Write<?>> writes) {
		try {
			caller.execute(() -> writes.forEach(Committer::complete));
		}
		catch (RejectedExecutionException ex) {
			// Its event loop is shutting down, so complete them here.
			writes.forEach(Committer::complete);
		}
	}

	private static void complete(Write<?> write) {
		try {
			write.complete();
		}
		catch (RuntimeException | Error ex) {
			// The error is the caller's; the rest of the batch still needs its results.
			logger.error("A caller failed to handle the result of a write", ex);
		}
	}

	/** Fails all queued writes. By any thread: each write is polled once. */
	private void refuseQueued() {
		Unavailable refused = this.refusal;
		for (Write<?> write = poll(); write != null && refused != null; write = poll()) {
			write.fail(refused);
			handBack(write.caller, List.of(write));
		}
	}

	/**
	 * Writes what is queued, takes nothing more, and returns when the thread has ended.
	 */
	@Override
	public void close() {
		this.closing = true;
		LockSupport.unpark(this.thread);
		boolean interrupted = false;
		while (this.thread.isAlive()) {
			try {
				this.thread.join();
			}
			catch (InterruptedException ex) {
				// The database must not be closed under the thread.
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

}
