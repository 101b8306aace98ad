package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.storage.StorageException;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.MonoSink;

/**
 * A change that waits for the committer, and the caller that waits for its result. The
 * caller gets the result on its own executor, after the batch is written.
 *
 * @param <T> the result
 */
final class Write<T> {

	/** The memory of a queued write beside its key and entry, in bytes, roughly. */
	static final int OVERHEAD_BYTES = 200;

	private final Change<T> change;

	private final MonoSink<T> sink;

	final Executor caller;

	final long queuedNanos;

	final long deadlineNanos;

	private final AtomicReference<State> state = new AtomicReference<>(State.QUEUED);

	private @Nullable T result;

	private @Nullable StorageException failure;

	Write(Change<T> change, MonoSink<T> sink, Executor caller, long queuedNanos, Deadline deadline) {
		this.change = change;
		this.sink = sink;
		this.caller = caller;
		this.queuedNanos = queuedNanos;
		this.deadlineNanos = deadline.atNanos();
	}

	/**
	 * Whether its caller's deadline has passed, or it has waited for longer than the
	 * limit.
	 */
	boolean isOverdue(long now, Duration limit) {
		return hasWaited(limit, now) || now - this.deadlineNanos > 0;
	}

	boolean hasWaited(Duration limit, long now) {
		return now - this.queuedNanos > limit.toNanos();
	}

	/** The memory of this write in the queue, in bytes. */
	int weight() {
		return OVERHEAD_BYTES + this.change.addedBytes();
	}

	void addTo(Batch batch) throws RocksDBException {
		this.result = this.change.addTo(batch);
	}

	/** Makes {@link #complete()} report this failure instead of the result. */
	void fail(StorageException failure) {
		this.failure = failure;
	}

	/** Fails with the batch, unless it has failed by itself. */
	void failUnlessFailed(StorageException failure) {
		if (this.failure == null) {
			this.failure = failure;
		}
	}

	/**
	 * Begins the write; false if its caller has already been told that it was not tried.
	 */
	boolean begin() {
		return this.state.compareAndSet(State.QUEUED, State.BEGUN);
	}

	/** Completes the caller, unless it has timed out. */
	void complete() {
		if (this.state.getAndSet(State.TOLD) == State.TOLD) {
			return;
		}
		if (this.failure != null) {
			this.sink.error(this.failure);
		}
		else {
			this.sink.success(this.result);
		}
	}

	/**
	 * Fails the caller with a timeout, on its executor. By any thread.
	 * @param waiting the failure if the write is still queued: it will not be tried
	 * @param begun the failure if the write has begun
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

}
