package io.kvorum.coordination;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import io.kvorum.kv.Key;
import io.kvorum.storage.CallerThreads;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * Lets the conditional writes of a key that this node coordinates run one after the
 * other. At once they would only outbid each other's ballots.
 * <p>
 * A write that ends tells what it has found to those that were waiting when it began. It
 * was found while they waited, so it may be their answer too. Of a hundred clients that
 * try the same lock, one asks the replicas.
 * <p>
 * At most {@value #MAX_WAITING} writes of a key wait, each until its own deadline.
 * Thread-safe.
 *
 * @param <T> the result of a write
 */
final class Turns<T> {

	/** The most turns of a key; further ones fail with {@link FullException}. */
	static final int MAX_WAITING = 1024;

	private final CallerThreads callers;

	/**
	 * The turns of each key, first the one whose turn it is; none without turns. Guarded
	 * by this.
	 */
	private final Map<Key, Queue<Turn>> lines = new HashMap<>();

	/** The number of the last event: a turn entered, or began. Guarded by this. */
	private long lastEvent;

	Turns(CallerThreads callers) {
		this.callers = callers;
	}

	/**
	 * Answers a write that waits by the end of another one. Called under a lock.
	 *
	 * @param <T> the result of a write
	 */
	@FunctionalInterface
	interface Answering<T> {

		/**
		 * Returns the failure that answers the write.
		 * @param result the result of the other one; null if it has none
		 * @param error the failure of the other one; null if it has none
		 * @return null if the write has to run itself
		 */
		@Nullable Throwable failureBy(@Nullable T result, @Nullable Throwable error);

	}

	/**
	 * Runs a write when it is its turn, on the caller's executor. The next one of the key
	 * begins when it ends or is cancelled. Fails with {@link FullException} if too many
	 * wait.
	 * @param late ends it by an error while it waits; on the caller's executor
	 * @param answering answers it without running it; null for a write that neither gets
	 * an answer from others nor is one for them
	 */
	Mono<T> inTurn(Key key, Mono<T> write, Mono<? extends Throwable> late, @Nullable Answering<T> answering) {
		return Mono.create(sink -> {
			Turn turn = new Turn(key, write, answering, sink, this.callers.current());
			sink.onDispose(turn::end);
			if (enter(turn)) {
				turn.begin();
			}
			else {
				turn.waitUntil(late);
			}
		});
	}

	/** Reports that too many writes of a key wait; the write was not begun. */
	static final class FullException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		FullException() {
			super("%d conditional writes of the key wait on this node, the limit".formatted(MAX_WAITING), null, false,
					false);
		}

	}

	/** Adds a turn; returns whether it begins at once. */
	private synchronized boolean enter(Turn turn) {
		if (turn.isDisposed()) {
			return false;
		}
		Queue<Turn> line = this.lines.computeIfAbsent(turn.key, _ -> new ArrayDeque<>(1));
		if (line.size() == MAX_WAITING) {
			throw new FullException();
		}
		turn.enteredAt = ++this.lastEvent;
		line.add(turn);
		return isFirst(turn, line);
	}

	/** Whether it is the turn of this write, which begins then. */
	private boolean isFirst(Turn turn, Queue<Turn> line) {
		boolean isFirst = line.peek() == turn;
		if (isFirst) {
			turn.beganAt = ++this.lastEvent;
		}
		return isFirst;
	}

	/**
	 * Removes a turn. If it was its turn, the next one begins.
	 * @param answered takes those that its end has answered
	 * @return the turn that begins; null if there is none
	 */
	private synchronized @Nullable Turn leave(Turn turn, List<Turn> answered) {
		Queue<Turn> line = this.lines.get(turn.key);
		if (line == null) {
			return null;
		}
		boolean wasFirst = line.peek() == turn;
		line.remove(turn);
		if (wasFirst) {
			line.removeIf(other -> other.isAnsweredBy(turn) && answered.add(other));
		}
		Turn next = wasFirst ? line.peek() : null;
		if (next != null) {
			isFirst(next, line);
		}
		if (line.isEmpty()) {
			this.lines.remove(turn.key);
		}
		return next;
	}

	/** Removes a turn that has not begun; returns whether it had not. */
	private synchronized boolean withdraw(Turn turn) {
		Queue<Turn> line = this.lines.get(turn.key);
		return line != null && line.peek() != turn && line.remove(turn);
	}

	/** The number of keys with a write under way. */
	synchronized int size() {
		return this.lines.size();
	}

	/** A write that waits, or runs. */
	private final class Turn extends BaseSubscriber<T> {

		private final Key key;

		private final Mono<T> write;

		private final @Nullable Answering<T> answering;

		private final MonoSink<T> sink;

		private final Executor caller;

		private final Disposable.Swap alarm = Disposables.swap();

		/** Guarded by the turns, as the next one. */
		private long enteredAt;

		private long beganAt;

		private volatile @Nullable T result;

		private volatile @Nullable Throwable error;

		/** The failure by the end of another write; null if there is none. */
		private @Nullable Throwable answer;

		Turn(Key key, Mono<T> write, @Nullable Answering<T> answering, MonoSink<T> sink, Executor caller) {
			this.key = key;
			this.write = write;
			this.answering = answering;
			this.sink = sink;
			this.caller = caller;
		}

		void waitUntil(Mono<? extends Throwable> late) {
			this.alarm.update(late.subscribe(error -> {
				if (withdraw(this)) {
					this.sink.error(error);
				}
			}));
		}

		/** Begins, unless its caller has left while it was on the way to its executor. */
		void begin() {
			this.alarm.dispose();
			if (!isDisposed()) {
				this.write.subscribe(this);
			}
		}

		/** Whether it was waiting when another write began, whose end answers it. */
		private boolean isAnsweredBy(Turn other) {
			if (this.answering == null || other.answering == null || this.enteredAt > other.beganAt) {
				return false;
			}
			this.answer = this.answering.failureBy(other.result, other.error);
			return this.answer != null;
		}

		/** The write has ended, or its caller has left. */
		void end() {
			this.alarm.dispose();
			dispose();
			List<Turn> answered = new ArrayList<>(0);
			Turn next = leave(this, answered);
			answered.forEach(other -> other.onCaller(other::fail));
			if (next != null) {
				next.onCaller(next::begin);
			}
		}

		private void fail() {
			Throwable failure = this.answer;
			if (failure != null) {
				this.sink.error(failure);
			}
		}

		private void onCaller(Runnable task) {
			try {
				this.caller.execute(task);
			}
			catch (RejectedExecutionException _) {
				// Its event loop is shutting down.
				task.run();
			}
		}

		@Override
		public Context currentContext() {
			return Context.of(this.sink.contextView());
		}

		@Override
		protected void hookOnNext(T value) {
			this.result = value;
			this.sink.success(value);
		}

		@Override
		protected void hookOnComplete() {
			this.sink.success();
		}

		@Override
		protected void hookOnError(Throwable error) {
			this.error = error;
			this.sink.error(error);
		}

	}

}
