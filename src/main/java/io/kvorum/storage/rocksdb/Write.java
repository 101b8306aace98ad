package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
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

	/** What a write takes in the queue beside its bytes, roughly. */
	private static final int OVERHEAD_BYTES = 200;

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

	/** One without a deadline of its own. */
	Write(MonoSink<T> sink, Executor caller, long queuedNanos) {
		this(sink, caller, queuedNanos, Deadline.NONE.atNanos());
	}

	/** Whether nobody waits for it any more, or it has waited for so long. */
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

	/** What {@link #complete()} will tell instead of the result. */
	void fail(StorageException failure) {
		this.failure = failure;
	}

	/** Fails with the batch what has not failed by itself. */
	void failUnlessFailed(StorageException failure) {
		if (this.failure == null) {
			this.failure = failure;
		}
	}

	/**
	 * Whether it is to be tried: false where its caller has been told that it was not.
	 */
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
	 * Tells the caller that it took too long, on its executor. By any thread.
	 * @param waiting what to tell if it still waits: it will not be tried
	 * @param begun what to tell if it has begun
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

		private final Key key;

		private final Version version;

		private final long expiresAtMillis;

		private final byte[] entry;

		private StoreOutcome outcome = StoreOutcome.SUPERSEDED;

		Store(Key key, Version version, long expiresAtMillis, byte[] entry, MonoSink<StoreOutcome> sink,
				Executor caller, long queuedNanos, Deadline deadline) {
			super(sink, caller, queuedNanos, deadline.atNanos());
			this.key = key;
			this.version = version;
			this.expiresAtMillis = expiresAtMillis;
			this.entry = entry;
		}

		@Override
		int weight() {
			return OVERHEAD_BYTES + this.key.bytes().length + this.entry.length;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			if (this.version.isNewerThan(batch.versionOf(this.key))) {
				batch.put(this.key, this.version, this.entry);
				if (this.expiresAtMillis != Live.NEVER) {
					batch.put(new Expiry(this.expiresAtMillis, this.key, this.version));
				}
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

		private final boolean buried;

		private boolean collected;

		Collect(Expiry expiry, boolean buried, MonoSink<Boolean> sink, Executor caller, long queuedNanos) {
			super(sink, caller, queuedNanos);
			this.expiry = expiry;
			this.buried = buried;
		}

		@Override
		boolean needsSpace() {
			return false;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			this.collected = this.expiry.version().equals(batch.versionOf(this.expiry.key()));
			if (this.collected && this.buried) {
				batch.bury(this.expiry.key(), this.expiry.version());
			}
			else if (this.collected) {
				batch.delete(this.expiry.key());
			}
			batch.delete(this.expiry);
		}

		@Override
		Boolean result() {
			return this.collected;
		}

	}

	/** Writes a small fact about the node, synced whatever the durability. */
	static final class Meta extends Write<Void> {

		private final byte[] name;

		private final byte[] value;

		Meta(byte[] name, byte[] value, MonoSink<Void> sink, Executor caller, long queuedNanos) {
			super(sink, caller, queuedNanos);
			this.name = name;
			this.value = value;
		}

		@Override
		boolean needsSpace() {
			return false;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			batch.putMeta(this.name, this.value);
			batch.requireSync();
		}

		@Override
		@Nullable Void result() {
			return null;
		}

	}

}
