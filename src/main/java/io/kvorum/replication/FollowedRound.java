package io.kvorum.replication;

import java.util.function.IntFunction;

import io.kvorum.clock.TimeSource;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Tally;
import io.kvorum.replication.OperationEvents.Step;
import reactor.core.publisher.Mono;

/**
 * A round of an operation that somebody follows: asks replicas as it would be done
 * anyway, and tells of each and of how long it took until they had decided.
 */
final class FollowedRound implements IntFunction<Mono<Reply>> {

	private final Step step;

	private final ReplicaSet set;

	private final int required;

	private final IntFunction<Mono<Reply>> ask;

	private final OperationEvents follower;

	private final TimeSource time;

	private final long startedNanos;

	private int asked;

	private int failed;

	private int hedges;

	/**
	 * A round that begins now.
	 * @param required how many replicas are asked without further reason
	 * @param ask asks one, by its position
	 */
	FollowedRound(Step step, ReplicaSet set, int required, IntFunction<Mono<Reply>> ask, OperationEvents follower,
			TimeSource time) {
		this.step = step;
		this.set = set;
		this.required = required;
		this.ask = ask;
		this.follower = follower;
		this.time = time;
		this.startedNanos = time.nanos();
	}

	/** Tells when the round is decided. */
	Mono<Tally> timed(Mono<Tally> round) {
		return round.doOnNext(_ -> this.follower.took(this.step, this.time.nanos() - this.startedNanos));
	}

	@Override
	public Mono<Reply> apply(int position) {
		return FollowedCall
			.of(this.ask.apply(position), this.set.at(position), this.step, isHedge(), this.follower, this.time)
			.doOnNext(this::count);
	}

	/** One more than are required and than have failed: asked because they take long. */
	private synchronized boolean isHedge() {
		boolean hedge = this.asked == this.required + this.failed + this.hedges;
		this.asked++;
		this.hedges += hedge ? 1 : 0;
		return hedge;
	}

	private synchronized void count(Reply reply) {
		this.failed += (reply instanceof Failed) ? 1 : 0;
	}

}
