package io.kvorum.replication;

import java.util.function.IntFunction;

import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Tally;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

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
	 */
	static Mono<Tally> ofStores(ReplicaSet set, Tally start, IntFunction<Mono<Reply>> ask) {
		if (set.size() == 1) {
			return ask.apply(0).map(reply -> start.add(0, reply));
		}
		return Flux.range(0, set.size())
			// This node's replica comes last: its work begins when the others' is on the
			// way.
			.map(i -> set.size() - 1 - i)
			.filter(position -> start.reply(position) == null)
			.flatMap(position -> vote(position, ask), set.size())
			// Nobody can cancel what is before this.
			.publish()
			.autoConnect()
			.scan(start, (tally, vote) -> tally.add(vote.position, vote.reply))
			.filter(Tally::isDecided)
			.next()
			.single();
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
			return count(Flux.range(0, required).flatMap(position -> vote(position, ask), required), start);
		}
		return Mono.defer(() -> new Reads(set, required, ask).run(start, hedging));
	}

	private static Mono<Tally> count(Flux<Vote> votes, Tally start) {
		return votes.scan(start, (tally, vote) -> tally.add(vote.position, vote.reply))
			.filter(Tally::isDecided)
			.next()
			.single();
	}

	private static Mono<Vote> vote(int position, IntFunction<Mono<Reply>> ask) {
		return ask.apply(position).map(reply -> new Vote(position, reply));
	}

	private record Vote(int position, Reply reply) {

		/** Not a reply: the alarm of the hedge. */
		static final Vote ALARM = new Vote(-1, Reply.Held.nothing());

		boolean isAlarm() {
			return this.position < 0;
		}

	}

	/** Reads that need not ask everybody. Its signals come one after the other. */
	private static final class Reads {

		private final ReplicaSet set;

		private final IntFunction<Mono<Reply>> ask;

		/** Positions to be asked beside the first ones. */
		private final Sinks.Many<Integer> more = Sinks.many().unicast().onBackpressureBuffer();

		private int asked;

		/** How many were asked without a failure that called for it. */
		private int hedges;

		Reads(ReplicaSet set, int required, IntFunction<Mono<Reply>> ask) {
			this.set = set;
			this.asked = required;
			this.ask = ask;
		}

		Mono<Tally> run(Tally start, Hedging hedging) {
			Flux<Vote> votes = Flux.range(0, this.asked)
				.concatWith(this.more.asFlux())
				.flatMap(position -> vote(position, this.ask), this.set.size());
			// Again for each further replica: two of five may be silent.
			Flux<Vote> alarms = hedging.alarm().map(_ -> Vote.ALARM).repeat(this.set.size() - start.required() - 1L);
			return Flux.merge(votes, alarms)
				.scan(start, (tally, vote) -> count(tally, vote, hedging))
				.filter(Tally::isDecided)
				.next()
				.single();
		}

		private Tally count(Tally before, Vote vote, Hedging hedging) {
			if (vote.isAlarm()) {
				hedge(before, hedging);
				return before;
			}
			Tally tally = before.add(vote.position, vote.reply);
			while (!tally.isDecided() && this.asked < this.set.size()
					&& this.asked < tally.required() + tally.failed() + this.hedges) {
				askOneMore();
			}
			return tally;
		}

		private void hedge(Tally tally, Hedging hedging) {
			if (this.asked < this.set.size() && !tally.isDecided() && hedging.mayHedge()) {
				this.hedges++;
				askOneMore();
			}
		}

		private void askOneMore() {
			this.more.tryEmitNext(this.asked++).orThrow();
		}

	}

}
