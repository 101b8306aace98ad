package io.kvorum.coordination;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import io.kvorum.kv.Key;
import io.kvorum.storage.CallerThreads;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * Lets the conditional writes of a key that this node coordinates run one after the
 * other. At once they would only outbid each other's ballots.
 * <p>
 * The writes that wait are bounded by the requests in flight. Each ends by its own
 * deadline, so none waits for longer than it may take. Thread-safe.
 */
final class Turns {

	private final CallerThreads callers;

	/**
	 * The turns of each key, first the one whose turn it is; none without turns. Guarded
	 * by this.
	 */
	private final Map<Key, Queue<Turn<?>>> lines = new HashMap<>();

	Turns(CallerThreads callers) {
		this.callers = callers;
	}

	/**
	 * Runs a write when it is its turn, on the caller's executor. The next one of the key
	 * begins when it ends or is cancelled.
	 */
	<T> Mono<T> inTurn(Key key, Mono<T> write) {
		return Mono.create(sink -> {
			Turn<T> turn = new Turn<>(key, write, sink, this.callers.current());
			sink.onDispose(turn::end);
			if (enter(turn)) {
				turn.begin();
			}
		});
	}

	/** Adds a turn; returns whether it begins at once. */
	private synchronized boolean enter(Turn<?> turn) {
		if (turn.isDisposed()) {
			return false;
		}
		Queue<Turn<?>> line = this.lines.computeIfAbsent(turn.key, _ -> new ArrayDeque<>(1));
		line.add(turn);
		return line.peek() == turn;
	}

	/** Removes a turn; returns the one that begins because of it, if any. */
	private synchronized @Nullable Turn<?> leave(Turn<?> turn) {
		Queue<Turn<?>> line = this.lines.get(turn.key);
		if (line == null) {
			return null;
		}
		boolean wasFirst = line.peek() == turn;
		line.remove(turn);
		if (line.isEmpty()) {
			this.lines.remove(turn.key);
		}
		return wasFirst ? line.peek() : null;
	}

	/** The number of keys with a write under way. */
	synchronized int size() {
		return this.lines.size();
	}

	/** A write that waits, or runs. */
	private final class Turn<T> extends BaseSubscriber<T> {

		private final Key key;

		private final Mono<T> write;

		private final MonoSink<T> sink;

		private final Executor caller;

		Turn(Key key, Mono<T> write, MonoSink<T> sink, Executor caller) {
			this.key = key;
			this.write = write;
			this.sink = sink;
			this.caller = caller;
		}

		/** Begins, unless its caller has left while it was on the way to its executor. */
		void begin() {
			if (!isDisposed()) {
				this.write.subscribe(this);
			}
		}

		/** Begins on the executor of its caller. */
		private void follow() {
			try {
				this.caller.execute(this::begin);
			}
			catch (RejectedExecutionException _) {
				// Its event loop is shutting down.
				begin();
			}
		}

		/** The write has ended, or its caller has left. */
		void end() {
			dispose();
			Turn<?> next = leave(this);
			if (next != null) {
				next.follow();
			}
		}

		@Override
		public Context currentContext() {
			return Context.of(this.sink.contextView());
		}

		@Override
		protected void hookOnNext(T value) {
			this.sink.success(value);
		}

		@Override
		protected void hookOnComplete() {
			this.sink.success();
		}

		@Override
		protected void hookOnError(Throwable error) {
			this.sink.error(error);
		}

	}

}
