package io.kvorum.replication;

import java.util.concurrent.atomic.AtomicBoolean;

import io.kvorum.clock.TimeSource;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.OperationEvents.Call;
import io.kvorum.replication.OperationEvents.Step;
import reactor.core.publisher.Mono;

/** A call of a replica that somebody follows. */
final class FollowedCall {

	private final Call call;

	private final TimeSource time;

	private final long startedNanos;

	/** A round that is decided by a reply cancels the call that brought it, too. */
	private final AtomicBoolean isOver = new AtomicBoolean();

	private FollowedCall(Call call, TimeSource time) {
		this.call = call;
		this.time = time;
		this.startedNanos = time.nanos();
	}

	/**
	 * The same call, and tells of it.
	 * @param follower told, unless it does not follow
	 */
	static Mono<Reply> of(Mono<Reply> call, Replica replica, Step step, boolean hedge, OperationEvents follower,
			TimeSource time) {
		if (!follower.isFollowing()) {
			return call;
		}
		return Mono.defer(() -> {
			FollowedCall followed = new FollowedCall(follower.asked(replica.member().address(), step, hedge), time);
			return call.doOnNext(reply -> followed.end(reply.outcome()))
				.doOnError(_ -> followed.end(Reason.INTERNAL.text()))
				.doOnCancel(() -> followed.end(Call.CANCELLED));
		});
	}

	private void end(String outcome) {
		if (this.isOver.compareAndSet(false, true)) {
			this.call.ended(outcome, this.time.nanos() - this.startedNanos);
		}
	}

}
