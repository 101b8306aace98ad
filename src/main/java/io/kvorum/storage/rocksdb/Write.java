package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Version;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.storage.StorageException;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.MonoSink;

/**
 * Something for the committer to write. It is added to a batch, and after that has been
 * written told so, on the executor it came from.
 *
 * @param <T> the result
 */
abstract class Write<T> {

	/** The approximate bytes of a write in the queue beside its content. */
	static final int OVERHEAD_BYTES = 200;

	private final MonoSink<T> sink;

	final Executor caller;

	final long queuedNanos;

	final long deadlineNanos;

	private final AtomicReference<State> state = new AtomicReference<>(State.QUEUED);

	private @Nullable StorageException failure;

	Write(MonoSink<T> sink, Executor caller, long queuedNanos, long deadlineNanos) {
		this.sink = sink;
		this.caller = caller;
		this.queuedNanos = queuedNanos;
		this.deadlineNanos = deadlineNanos;
	}

	/** Creates a write without a deadline of its own. */
	Write(MonoSink<T> sink, Executor caller, long queuedNanos) {
		this(sink, caller, queuedNanos, Deadline.NONE.atNanos());
	}

	/** Whether its caller has stopped waiting, or it has waited for this long. */
	boolean isOverdue(long now, Duration limit) {
		return now - this.queuedNanos > limit.toNanos() || now - this.deadlineNanos > 0;
	}

	/** The memory that this write takes while it waits, in bytes. */
	int weight() {
		return OVERHEAD_BYTES;
	}

	/** Whether it is refused while the disk has too little space. */
	boolean needsSpace() {
		return true;
	}

	/** Decides what is to be written and puts it into the batch. */
	abstract void addTo(Batch batch) throws RocksDBException;

	/** The result once the batch is written; null where there is none. */
	abstract @Nullable T result();

	/** The failure that {@link #complete()} reports instead of the result. */
	void fail(StorageException failure) {
		this.failure = failure;
	}

	/** Fails with the batch what has not failed by itself. */
	void failUnlessFailed(StorageException failure) {
		if (this.failure == null) {
			this.failure = failure;
		}
	}

	/** Whether to try it; false if its caller was told that it was not tried. */
	boolean begin() {
		return this.state.compareAndSet(State.QUEUED, State.BEGUN);
	}

	/** Tells the caller, unless that has been told something before. */
	void complete() {
		if (this.state.getAndSet(State.TOLD) == State.TOLD) {
			return;
		}
		if (this.failure != null) {
			this.sink.error(this.failure);
		}
		else {
			this.sink.success(result());
		}
	}

	/**
	 * Reports to the caller that it took too long, on the caller's executor. Called by
	 * any thread.
	 * @param waiting the failure of a waiting write, which will not be tried
	 * @param begun the failure of a write that has begun
	 */
	void timeOut(Supplier<StorageException> waiting, Supplier<StorageException> begun) {
		if (this.state.compareAndSet(State.QUEUED, State.TOLD)) {
			tell(waiting.get());
		}
		else if (this.state.compareAndSet(State.BEGUN, State.TOLD)) {
			tell(begun.get());
		}
	}

	private void tell(StorageException late) {
		try {
			this.caller.execute(() -> this.sink.error(late));
		}
		catch (RejectedExecutionException _) {
			// Its event loop is shutting down.
			this.sink.error(late);
		}
	}

	private enum State {

		QUEUED, BEGUN, TOLD

	}

	/** Stores an entry if it is newer than the one that is there. */
	static final class Store extends Write<StoreOutcome> {

		private final IndexedKey key;

		private final EncodedEntry entry;

		private StoreOutcome outcome = StoreOutcome.SUPERSEDED;

		Store(IndexedKey key, EncodedEntry entry, MonoSink<StoreOutcome> sink, Executor caller, long queuedNanos,
				Deadline deadline) {
			super(sink, caller, queuedNanos, deadline.atNanos());
			this.key = key;
			this.entry = entry;
		}

		@Override
		int weight() {
			return OVERHEAD_BYTES + this.key.bytes().length + this.entry.bytes().length;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			if (this.entry.version().isNewerThan(batch.versionOf(this.key))) {
				batch.put(this.key, this.entry);
				this.outcome = StoreOutcome.STORED;
			}
		}

		@Override
		StoreOutcome result() {
			return this.outcome;
		}

	}

	/**
	 * Removes an entry that has expired, unless it has been overwritten since. Where
	 * there are other replicas it becomes a tombstone of the same version: one that
	 * missed it may hold something older, which would come back.
	 */
	static final class Collect extends Write<Boolean> {

		private final Expiry expiry;

		private final IndexedKey key;

		private final boolean buried;

		private boolean collected;

		Collect(Expiry expiry, IndexedKey key, boolean buried, MonoSink<Boolean> sink, Executor caller,
				long queuedNanos) {
			super(sink, caller, queuedNanos);
			this.expiry = expiry;
			this.key = key;
			this.buried = buried;
		}

		@Override
		boolean needsSpace() {
			return false;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			this.collected = this.expiry.version().equals(batch.versionOf(this.key));
			if (this.collected && this.buried) {
				batch.bury(this.key);
			}
			else if (this.collected) {
				batch.delete(this.key);
			}
			batch.delete(this.expiry);
		}

		@Override
		Boolean result() {
			return this.collected;
		}

	}

	/**
	 * Removes an entry for good, unless it has been overwritten. What is known of a
	 * tombstone of that version goes in any case.
	 */
	static final class Remove extends Write<Boolean> {

		private final IndexedKey key;

		private final Version version;

		private boolean removed;

		Remove(IndexedKey key, Version version, MonoSink<Boolean> sink, Executor caller, long queuedNanos) {
			super(sink, caller, queuedNanos);
			this.key = key;
			this.version = version;
		}

		@Override
		boolean needsSpace() {
			return false;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			// What is absent has no version, and that is not to be removed.
			this.removed = this.version.equals(batch.versionOf(this.key)) && !this.version.equals(Version.ABSENT);
			if (this.removed) {
				batch.delete(this.key);
			}
			batch.deleteTombstone(this.key, this.version);
		}

		@Override
		Boolean result() {
			return this.removed;
		}

	}

	/** Writes a small fact about the node, synced whatever the durability. */
	static final class Meta extends Write<Void> {

		private final byte[] name;

		private final byte[] value;

		private final Runnable whenWritten;

		/**
		 * A fact to be written.
		 * @param whenWritten run by the committer's thread, in the order of writes
		 */
		Meta(byte[] name, byte[] value, Runnable whenWritten, MonoSink<Void> sink, Executor caller, long queuedNanos) {
			super(sink, caller, queuedNanos);
			this.name = name;
			this.value = value;
			this.whenWritten = whenWritten;
		}

		@Override
		boolean needsSpace() {
			return false;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			batch.putMeta(this.name, this.value);
			batch.requireSync();
			batch.whenWritten(this.whenWritten);
		}

		@Override
		@Nullable Void result() {
			return null;
		}

	}

}
