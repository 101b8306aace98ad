package io.kvorum.coordination;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Tally;
import io.kvorum.replication.ReplicaSet;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * One round of an operation: asks replicas and counts their replies. It ends when the
 * tally is decided. Later replies do not count.
 * <p>
 * It subscribes to the replicas itself. Reactor's merging operators took a fifth of the
 * CPU that the coordinator spends on a replicated write.
 */
abstract class Round {

	private final IntFunction<Mono<Reply>> ask;

	private final @Nullable ObservedRound observed;

	private final MonoSink<Tally> sink;

	private Tally tally;

	/** Whether the caller has the tally: it is decided, or was given up. */
	private boolean isOver;

	private Round(IntFunction<Mono<Reply>> ask, Tally start, @Nullable ObservedRound observed, MonoSink<Tally> sink) {
		this.ask = ask;
		this.observed = observed;
		this.tally = start;
		this.sink = sink;
	}

	/**
	 * Asks all replicas that have not replied, each by its position. Neither a decision
	 * nor a cancellation stops the stores: the entry goes to all replicas.
	 * @param patience ends the round undecided, so long after a promise has refused. The
	 * caller then goes on by another ballot, and no silent replica holds it up. Null if
	 * the round waits for all.
	 * @param witness receives the failures, also those after the decision; null if a
	 * failure needs no work later
	 * @param observed observes the calls; null if the operation is not observed
	 */
	static Mono<Tally> ofStores(ReplicaSet set, Tally start, IntFunction<Mono<Reply>> ask,
			@Nullable Mono<Long> patience, @Nullable Witness witness, @Nullable ObservedRound observed) {
		Mono<Tally> round = (set.size() == 1 && witness == null) ? ofOne(ask, start, observed)
				: Mono.create(sink -> new Stores(ask, start, patience, witness, observed, sink).begin());
		return (observed != null) ? observed.timed(round) : round;
	}

	private static Mono<Tally> ofOne(IntFunction<Mono<Reply>> ask, Tally start, @Nullable ObservedRound observed) {
		Mono<Reply> call = ask.apply(0);
		return ((observed != null) ? observed.call(0, false, call) : call).map(reply -> start.add(0, reply));
	}

	/** Receives the failures of a round of stores, on any thread. */
	interface Witness {

		/** A replica failed, before or after the decision. */
		void failed(int position, Failed why);

		/**
		 * The round is decided, or given up. Called once, before the caller receives the
		 * tally.
		 */
		void decided(Tally tally);

	}

	/**
	 * Asks as many replicas as are required, one more for each that fails, and one more
	 * each time those asked take long.
	 * @param hedging decides when to hedge
	 * @param observed observes the calls; null if the operation is not observed
	 */
	static Mono<Tally> ofReads(ReplicaSet set, IntFunction<Mono<Reply>> ask, Hedging hedging,
			@Nullable ObservedRound observed) {
		Tally start = Tally.awaiting(set.quorum());
		Mono<Tally> round = (set.size() == 1) ? ofOne(ask, start, observed)
				: Mono.create(sink -> new Reads(ask, start, hedging, observed, sink).begin());
		return (observed != null) ? observed.timed(round) : round;
	}

	/** Counts a reply, which may decide the round. */
	private void count(int position, Reply reply) {
		if (add(position, reply)) {
			end();
		}
	}

	/** Ends the round, though it is not decided. */
	private void giveUp() {
		if (close()) {
			end();
		}
	}

	private void end() {
		decided(this.tally);
		this.sink.success(this.tally);
	}

	private synchronized boolean close() {
		boolean wasOver = this.isOver;
		this.isOver = true;
		return !wasOver;
	}

	/** The round is decided; the caller does not know it yet. */
	void decided(Tally tally) {
	}

	private synchronized boolean add(int position, Reply reply) {
		if (this.isOver) {
			return false;
		}
		this.tally = this.tally.add(position, reply);
		this.isOver = this.tally.isDecided();
		return this.isOver;
	}

	/** A reply has arrived. */
	abstract void replied(int position, Reply reply);

	/** The call of one replica. */
	final class Call extends BaseSubscriber<Reply> {

		private final int position;

		private final boolean hedge;

		private boolean hasReplied;

		Call(int position, boolean hedge) {
			this.position = position;
			this.hedge = hedge;
		}

		void ask() {
			Mono<Reply> call = Round.this.ask.apply(this.position);
			ObservedRound observed = Round.this.observed;
			((observed != null) ? observed.call(this.position, this.hedge, call) : call).subscribe(this);
		}

		@Override
		public Context currentContext() {
			return Context.of(Round.this.sink.contextView());
		}

		@Override
		protected void hookOnNext(Reply reply) {
			this.hasReplied = true;
			replied(this.position, reply);
		}

		@Override
		protected void hookOnComplete() {
			if (!this.hasReplied) {
				Round.this.sink
					.error(new IllegalStateException("replica %d ended without a reply".formatted(this.position)));
			}
		}

		/** Fails the round. A replica that fails replies; an error signal is a bug. */
		@Override
		protected void hookOnError(Throwable error) {
			Round.this.sink.error(error);
		}

	}

	private static final class Stores extends Round {

		private final Tally start;

		private final @Nullable Mono<Long> patience;

		private final @Nullable Witness witness;

		/** The alarm that gives the round up; null until a promise has refused. */
		private @Nullable Disposable alarm;

		Stores(IntFunction<Mono<Reply>> ask, Tally start, @Nullable Mono<Long> patience, @Nullable Witness witness,
				@Nullable ObservedRound observed, MonoSink<Tally> sink) {
			super(ask, start, observed, sink);
			this.start = start;
			this.patience = patience;
			this.witness = witness;
		}

		/**
		 * Asks the first replica last. It is usually this node's, and begins its work
		 * when the requests to the others are on their way.
		 */
		void begin() {
			for (int position = this.start.replicas() - 1; position >= 0; position--) {
				if (this.start.reply(position) == null) {
					new Call(position, false).ask();
				}
			}
		}

		@Override
		void replied(int position, Reply reply) {
			if (this.witness != null && reply instanceof Failed failed) {
				this.witness.failed(position, failed);
			}
			super.count(position, reply);
			if (this.patience != null && reply instanceof Failed failed && failed.refusal() != null) {
				setAlarm(this.patience);
			}
		}

		private synchronized @Nullable Disposable alarm() {
			return this.alarm;
		}

		private void setAlarm(Mono<Long> patience) {
			Patience alarm = new Patience();
			synchronized (this) {
				if (super.isOver || this.alarm != null) {
					return;
				}
				this.alarm = alarm;
			}
			alarm.set(patience);
		}

		@Override
		void decided(Tally tally) {
			Disposable alarm = alarm();
			if (alarm != null) {
				alarm.dispose();
			}
			if (this.witness != null) {
				this.witness.decided(tally);
			}
		}

		/** Gives the round up when it has taken long. */
		private final class Patience extends BaseSubscriber<Long> {

			void set(Mono<Long> patience) {
				patience.subscribe(this);
			}

			@Override
			protected void hookOnNext(Long value) {
				Stores.super.giveUp();
			}

			@Override
			protected void hookOnError(Throwable error) {
				Stores.super.sink.error(error);
			}

		}

	}

	/** A round of reads, which need not ask all replicas. */
	private static final class Reads extends Round implements Disposable {

		private final Hedging hedging;

		private final int replicas;

		private final List<Disposable> underWay;

		private int asked;

		/**
		 * The number of further replicas that may be asked because the first ones take
		 * long.
		 */
		private int hedges;

		/** The number of {@link #hedges} that were sent. */
		private int hedged;

		private boolean disposed;

		Reads(IntFunction<Mono<Reply>> ask, Tally start, Hedging hedging, @Nullable ObservedRound observed,
				MonoSink<Tally> sink) {
			super(ask, start, observed, sink);
			this.hedging = hedging;
			this.replicas = start.replicas();
			this.underWay = new ArrayList<>(this.replicas + 1);
			sink.onDispose(this);
		}

		void begin() {
			// One alarm for each further replica: two of five may be silent.
			int alarms = this.replicas - super.tally.needed();
			askMore();
			if (alarms > 0 && !isDisposed()) {
				new Alarm(alarms).set();
			}
		}

		@Override
		void replied(int position, Reply reply) {
			super.count(position, reply);
			if (reply instanceof Failed) {
				askMore();
			}
		}

		/** Asks replicas until as many are asked as are needed, or all. */
		private void askMore() {
			for (Call call = next(); call != null; call = next()) {
				call.ask();
			}
		}

		private synchronized @Nullable Call next() {
			Tally tally = super.tally;
			int needed = tally.needed();
			if (tally.isDecided() || this.disposed || this.asked == Math.min(this.replicas, needed + this.hedges)) {
				return null;
			}
			boolean hedge = this.asked == needed + this.hedged;
			this.hedged += hedge ? 1 : 0;
			Call call = new Call(this.asked++, hedge);
			this.underWay.add(call);
			return call;
		}

		private synchronized boolean mayHedge() {
			boolean may = this.asked < this.replicas && this.hedging.mayHedge();
			this.hedges += may ? 1 : 0;
			return may;
		}

		private synchronized boolean keep(Disposable underWay) {
			if (!this.disposed) {
				this.underWay.add(underWay);
			}
			return !this.disposed;
		}

		@Override
		public synchronized boolean isDisposed() {
			return this.disposed;
		}

		/** Ends the other calls: the round is decided or cancelled. */
		@Override
		public void dispose() {
			List<Disposable> rest;
			synchronized (this) {
				this.disposed = true;
				rest = List.copyOf(this.underWay);
				this.underWay.clear();
			}
			rest.forEach(Disposable::dispose);
		}

		/** Asks one more replica when those that were asked take long. */
		private final class Alarm extends BaseSubscriber<Long> {

			private final int left;

			Alarm(int left) {
				this.left = left;
			}

			void set() {
				if (keep(this)) {
					Reads.this.hedging.alarm().subscribe(this);
				}
			}

			@Override
			protected void hookOnNext(Long value) {
				if (mayHedge()) {
					askMore();
				}
				if (this.left > 1) {
					new Alarm(this.left - 1).set();
				}
			}

			@Override
			protected void hookOnError(Throwable error) {
				Reads.super.sink.error(error);
			}

		}

	}

}
