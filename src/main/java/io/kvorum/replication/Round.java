package io.kvorum.replication;

import java.util.function.BiConsumer;
import java.util.function.IntFunction;

import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Tally;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.publisher.SynchronousSink;
import reactor.util.concurrent.Queues;

/**
 * One round of an operation: asks replicas and counts what they say, and is over as soon
 * as that decides, never waiting for the slowest.
 */
final class Round {

	private Round() {
	}

	/**
	 * Asks all replicas that have not replied, each by its position. Reaching a decision
	 * answers the caller and does not stop the others: the entry goes to all of them.
	 * @param missed told of each that failed, by its position, also after the decision
	 */
	static Mono<Tally> ofStores(ReplicaSet set, Tally start, IntFunction<Mono<Reply>> ask,
			BiConsumer<Integer, Failed> missed) {
		if (set.size() == 1) {
			return vote(0, ask, missed).map(vote -> start.add(0, vote.reply));
		}
		Flux<Vote> votes = Flux.fromArray(toAsk(set, start))
			.flatMap(position -> vote(position, ask, missed), set.size())
			// Nobody can cancel what is before this.
			.publish(set.size())
			.autoConnect();
		return votes.handle(new Counting(start)).single();
	}

	/**
	 * The positions that have not replied. This node's replica comes last: its work
	 * begins when the others' is on the way.
	 */
	private static Integer[] toAsk(ReplicaSet set, Tally start) {
		Integer[] positions = new Integer[set.size() - start.succeeded() - start.failed()];
		int count = 0;
		for (int position = set.size() - 1; position >= 0; position--) {
			if (start.reply(position) == null) {
				positions[count++] = position;
			}
		}
		return positions;
	}

	/**
	 * Asks as many replicas as are required, one more for each that fails, and one more
	 * whenever those asked take long.
	 * @param hedging decides about that
	 */
	static Mono<Tally> ofReads(ReplicaSet set, int required, IntFunction<Mono<Reply>> ask, Hedging hedging) {
		if (set.size() == 1) {
			return ask.apply(0).map(reply -> Tally.awaiting(1, 1).add(0, reply));
		}
		Tally start = Tally.awaiting(required, set.size());
		if (set.size() == required) {
			return Flux.range(0, required)
				.flatMap(position -> vote(position, ask), required)
				.handle(new Counting(start))
				.single();
		}
		return Mono.defer(() -> new Reads(set, ask, start, hedging).run());
	}

	private static Mono<Vote> vote(int position, IntFunction<Mono<Reply>> ask) {
		return ask.apply(position).map(reply -> new Vote(position, reply));
	}

	private static Mono<Vote> vote(int position, IntFunction<Mono<Reply>> ask, BiConsumer<Integer, Failed> missed) {
		return ask.apply(position).map(reply -> {
			if (reply instanceof Failed failed) {
				missed.accept(position, failed);
			}
			return new Vote(position, reply);
		});
	}

	private record Vote(int position, Reply reply) {

		/** Not a reply: the alarm of the hedge. */
		static final Vote ALARM = new Vote(-1, Reply.Held.nothing());

		boolean isAlarm() {
			return this.position < 0;
		}

	}

	/** Counts votes up to the decision. Begins when it is made: for one subscriber. */
	private static class Counting implements BiConsumer<Vote, SynchronousSink<Tally>> {

		Tally tally;

		Counting(Tally start) {
			this.tally = start;
		}

		@Override
		public void accept(Vote vote, SynchronousSink<Tally> decided) {
			this.tally = this.tally.add(vote.position, vote.reply);
			if (this.tally.isDecided()) {
				decided.next(this.tally);
				decided.complete();
			}
		}

	}

	/** Reads that need not ask everybody. Its signals come one after the other. */
	private static final class Reads extends Counting {

		private final ReplicaSet set;

		private final IntFunction<Mono<Reply>> ask;

		private final Hedging hedging;

		/** Positions to be asked beside the first ones. */
		private final Sinks.Many<Integer> more = Sinks.many()
			.unicast()
			.onBackpressureBuffer(Queues.<Integer>unbounded(Queues.XS_BUFFER_SIZE).get());

		private int asked;

		/** How many were asked without a failure that called for it. */
		private int hedges;

		Reads(ReplicaSet set, IntFunction<Mono<Reply>> ask, Tally start, Hedging hedging) {
			super(start);
			this.set = set;
			this.ask = ask;
			this.hedging = hedging;
			this.asked = start.required();
		}

		Mono<Tally> run() {
			Flux<Vote> votes = Flux.range(0, this.asked)
				.concatWith(this.more.asFlux())
				.flatMap(position -> vote(position, this.ask), this.set.size());
			// Again for each further replica: two of five may be silent.
			Flux<Vote> alarms = this.hedging.alarm().map(_ -> Vote.ALARM).repeat(this.set.size() - this.asked - 1L);
			return Flux.merge(votes, alarms).handle(this).single();
		}

		@Override
		public void accept(Vote vote, SynchronousSink<Tally> decided) {
			if (!vote.isAlarm()) {
				super.accept(vote, decided);
			}
			else if (this.asked < this.set.size() && this.hedging.mayHedge()) {
				this.hedges++;
			}
			while (!this.tally.isDecided() && this.asked < this.set.size()
					&& this.asked < this.tally.required() + this.tally.failed() + this.hedges) {
				this.more.tryEmitNext(this.asked++).orThrow();
			}
		}

	}

}
