package io.kvorum.storage.rocksdb;

import java.nio.charset.StandardCharsets;
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
 * Callers put writes into a bounded queue. The thread takes all that have gathered, asks
 * each what to write given the present state, writes the batch, syncs it, and completes
 * the callers. While a sync runs the next batch gathers, so the disk is asked as often as
 * it can answer, whatever the load. There is no other writer, so "store if newer" needs
 * no locks, and all waiting writes share a sync. For the same reason only this thread
 * knows whether a row that a read found is still the newest, and may be cached.
 * <p>
 * <b>Failures.</b> Data that cannot be read fails only its own write. A full disk fails
 * the batch; later writes are refused until a probe succeeds. Any other error of the disk
 * is final, because RocksDB cannot say what has reached the disk. The committer then
 * takes nothing more and reports the failure, so that the process ends. If the reason is
 * a table that a compaction found damaged, the {@link DamageMarker} lets the next start
 * avoid it.
 * <p>
 * <b>A disk that hangs</b> holds up the thread. {@link #tellOverdue()}, called regularly
 * by another thread, completes the callers: a waiting write will not be tried, a write
 * that has begun is unknown. So a write needs no timer of its own.
 */
final class Committer implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Committer.class);

	/** The most writes in a batch. */
	private static final int MAX_BATCH_WRITES = 1024;

	/** A batch takes no more writes when it has this many bytes. */
	private static final long MAX_BATCH_BYTES = 4 << 20;

	/** The value of the probe that is written when the disk was full. */
	private static final byte[] PROBE = "probe".getBytes(StandardCharsets.US_ASCII);

	private final Database database;

	private final Derived derived;

	private final RocksSettings settings;

	private final TimeSource time;

	private final StorageEvents events;

	private final Consumer<Throwable> whenFailed;

	private final DamageMarker damage;

	private final Space space;

	/** Made once: under overload they are given by the thousand, and say the same. */
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

	/** The writes that have been taken and not completed. */
	private volatile List<Write<?>> taken = List.of();

	/** Whether the last write met a full disk. Set by the committer's thread only. */
	private volatile boolean full;

	/**
	 * Whether the disk hung at the last check for overdue writes. Used by the thread of
	 * that check.
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
		this.space = new Space(settings.path(), settings.minFreeBytes(), time);
		this.tooMany = new Overloaded("kvorum.storage.write-queue-length", settings.writeQueueLength());
		this.tooLarge = new Overloaded("kvorum.storage.write-queue-size", settings.writeQueueBytes());
		this.thread.setDaemon(true);
	}

	void start() {
		this.thread.start();
	}

	/**
	 * Takes a write.
	 * @throws StorageException if a limit is reached or the store is closed: it was not
	 * taken
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
	 * Caches a row that a read found in the database, if it is not too long and still the
	 * newest when its turn comes.
	 * @param asOf the {@link RowCache#now()} before the database was asked
	 */
	void keep(Key key, byte[] row, long asOf) {
		if (this.derived.rows().hasRoomFor(key, row) && this.fills.offer(key, row, asOf)) {
			wake();
		}
	}

	/**
	 * The limit that a write with so many bytes would meet now; null where it has room.
	 */
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

	int queuedWrites() {
		return this.queuedWrites.get();
	}

	long queuedBytes() {
		return this.queuedBytes.get();
	}

	/**
	 * The age of the oldest write, in nanoseconds; 0 if there is none. Called by any
	 * thread.
	 */
	long oldestNanos() {
		List<Write<?>> underWay = this.taken;
		Write<?> oldest = underWay.isEmpty() ? this.queue.peek() : underWay.getFirst();
		return (oldest != null) ? this.time.nanos() - oldest.queuedNanos : 0;
	}

	boolean isOutOfSpace() {
		return this.space.isLow() || this.full;
	}

	private void run() {
		try (Batch batch = new Batch(this.database, this.derived.rows(), this.time)) {
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
			fail(ex);
			this.taken.forEach(write -> write.fail(new WriteFailed(ex)));
			handBack(this.taken);
		}
		if (this.refusal == null) {
			this.refusal = new Unavailable("the store is closed");
		}
		refuseQueued();
	}

	/**
	 * Waits until there is something to do; false when nothing is and nothing will be.
	 */
	private boolean awaitWork() {
		while (!hasWork()) {
			if (this.closing) {
				return false;
			}
			this.parked.set(true);
			// Announce first, look second: a caller that adds a write adds first and
			// looks second.
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
		NoSpace noSpace = noSpace();
		int added = 0;
		for (Write<?> write : taken) {
			added += add(write, batch, started, noSpace) ? 1 : 0;
		}
		if (batch.isEmpty()) {
			return;
		}
		try {
			batch.write(this.settings.durability() == Durability.FSYNC);
			this.full = false;
		}
		catch (RocksDBException ex) {
			StorageException failure = failureOf(ex);
			taken.forEach(write -> write.failUnlessFailed(failure));
			batch.failed();
			return;
		}
		batch.applyTo(this.derived);
		this.events.batchWritten(added, started - taken.getFirst().queuedNanos, this.time.nanos() - started);
	}

	private boolean add(Write<?> write, Batch batch, long now, @Nullable NoSpace noSpace) {
		if (!write.begin()) {
			return false;
		}
		if (noSpace != null && write.needsSpace()) {
			this.events.outOfSpace();
			write.fail(noSpace);
			return false;
		}
		if (write.isOverdue(now, this.settings.writeQueueTime())) {
			write.fail(waitedTooLong());
			return false;
		}
		try {
			write.addTo(batch);
			return true;
		}
		catch (RocksDBException | DamagedEntryException ex) {
			this.events.unreadable();
			write.fail(new Unreadable(ex));
			return false;
		}
	}

	private Overloaded waitedTooLong() {
		return overloaded(new Overloaded("kvorum.storage.write-queue-time", this.settings.writeQueueTime()));
	}

	/**
	 * Fails writes whose time is over while the disk hangs, and tells the log. By one
	 * thread, whichever it is.
	 */
	void tellOverdue() {
		long now = this.time.nanos();
		for (Write<?> write : this.taken) {
			if (write.isOverdue(now, this.settings.writeTimeout())) {
				write.timeOut(this::waitedTooLong, () -> new WriteTimedOut(this.settings.writeTimeout()));
			}
		}
		for (Write<?> write : this.queue) {
			if (write.isOverdue(now, this.settings.writeQueueTime())) {
				write.timeOut(this::waitedTooLong, this::waitedTooLong);
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

	/** Why writes that need space are refused; null where there is some. */
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
			// The callers are completed nonetheless.
			logger.error("The store has failed, and telling so failed too", ex);
		}
	}

	/** Hands results over: one task for each executor that waits for some. */
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
			// Its event loop is shutting down; no other thread will complete it.
			writes.forEach(Committer::complete);
		}
	}

	private static void complete(Write<?> write) {
		try {
			write.complete();
		}
		catch (RuntimeException | Error ex) {
			// It is the caller's; the others in the batch wait for theirs.
			logger.error("A caller failed when it was told the result of a write", ex);
		}
	}

	/**
	 * Fails the writes that no batch will take. Called by any thread: each write is
	 * polled once.
	 */
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
