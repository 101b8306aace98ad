package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.storage.StorageException;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.MonoSink;

/**
 * A change that waits for the committer, and its caller. The caller is completed on its
 * own executor after the batch with the change has been written.
 *
 * @param <T> the result
 */
final class Write<T> {

	/** The approximate bytes of a write in the queue beside its change. */
	static final int OVERHEAD_BYTES = 200;

	@SuppressWarnings("rawtypes")
	private static final AtomicReferenceFieldUpdater<Write, State> STATE = AtomicReferenceFieldUpdater
		.newUpdater(Write.class, State.class, "state");

	final Executor caller;

	final long queuedNanos;

	private final Change<T> change;

	private final MonoSink<T> sink;

	private final long deadlineNanos;

	@SuppressWarnings("UnusedVariable") // read by STATE
	private volatile State state = State.QUEUED;

	private @Nullable T result;

	private @Nullable StorageException failure;

	Write(Change<T> change, MonoSink<T> sink, Executor caller, long queuedNanos, Deadline deadline) {
		this.change = change;
		this.sink = sink;
		this.caller = caller;
		this.queuedNanos = queuedNanos;
		this.deadlineNanos = deadline.atNanos();
	}

	/** Whether its caller has stopped waiting, or it has waited for this long. */
	boolean isOverdue(long now, Duration limit) {
		return now - this.queuedNanos > limit.toNanos() || now - this.deadlineNanos > 0;
	}

	/** The memory that this write takes while it waits, in bytes. */
	int weight() {
		return OVERHEAD_BYTES + this.change.bytes();
	}

	boolean needsSpace() {
		return this.change.needsSpace();
	}

	void addTo(Batch batch) throws RocksDBException {
		this.result = this.change.addTo(batch);
	}

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
		return STATE.compareAndSet(this, State.QUEUED, State.BEGUN);
	}

	/** Completes the caller, unless that was completed before. */
	void complete() {
		if (STATE.getAndSet(this, State.COMPLETED) == State.COMPLETED) {
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
	 * Reports to the caller that it took too long, on the caller's executor. Called by
	 * any thread.
	 * @param waiting the failure of a waiting write, which will not be tried
	 * @param begun the failure of a write that has begun
	 */
	void timeOut(Supplier<StorageException> waiting, Supplier<StorageException> begun) {
		if (STATE.compareAndSet(this, State.QUEUED, State.COMPLETED)) {
			report(waiting.get());
		}
		else if (STATE.compareAndSet(this, State.BEGUN, State.COMPLETED)) {
			report(begun.get());
		}
	}

	private void report(StorageException late) {
		try {
			this.caller.execute(() -> this.sink.error(late));
		}
		catch (RejectedExecutionException _) {
			// Its event loop is shutting down.
			this.sink.error(late);
		}
	}

	private enum State {

		QUEUED, BEGUN, COMPLETED

	}

}
