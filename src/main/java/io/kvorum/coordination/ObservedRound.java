package io.kvorum.coordination;

import io.kvorum.clock.TimeSource;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Tally;
import io.kvorum.replication.ObservedCall;
import io.kvorum.replication.ReplicaSet;
import reactor.core.publisher.Mono;

/** Reports the calls and the duration of one round to the observer of its operation. */
final class ObservedRound {

	private final Step step;

	private final ReplicaSet set;

	private final OperationObserver observer;

	private final TimeSource time;

	private final long startedNanos;

	/** Observes a round that begins now. */
	ObservedRound(Step step, ReplicaSet set, OperationObserver observer, TimeSource time) {
		this.step = step;
		this.set = set;
		this.observer = observer;
		this.time = time;
		this.startedNanos = time.nanos();
	}

	/** Returns a call that reports itself. */
	Mono<Reply> call(int position, boolean hedge, Mono<Reply> call) {
		return ObservedCall.of(call, this.set.at(position), this.step, hedge, this.observer, this.time);
	}

	/** Returns a round that reports its duration. */
	Mono<Tally> timed(Mono<Tally> round) {
		return round.doOnNext(_ -> this.observer.took(this.step, this.time.nanos() - this.startedNanos));
	}

}
