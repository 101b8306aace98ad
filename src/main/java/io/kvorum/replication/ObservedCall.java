package io.kvorum.replication;

import java.util.concurrent.atomic.AtomicBoolean;

import io.kvorum.clock.TimeSource;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.OperationObserver.Call;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Reason;
import reactor.core.publisher.Mono;

/** A call of a replica that is reported to the observer of its operation. */
public final class ObservedCall {

	private final Call call;

	private final TimeSource time;

	private final long startedNanos;

	/** Guards the report: the reply that decides a round also cancels its own call. */
	private final AtomicBoolean isOver = new AtomicBoolean();

	private ObservedCall(Call call, TimeSource time) {
		this.call = call;
		this.time = time;
		this.startedNanos = time.nanos();
	}

	/**
	 * Returns a call that reports itself.
	 * @param observer receives the report if it observes
	 */
	public static Mono<Reply> of(Mono<Reply> call, Replica replica, Step step, boolean hedge,
			OperationObserver observer, TimeSource time) {
		if (!observer.isObserving()) {
			return call;
		}
		return Mono.defer(() -> {
			ObservedCall observed = new ObservedCall(observer.asked(replica.member().address(), step, hedge), time);
			return call.doOnNext(reply -> observed.end(reply.outcome()))
				.doOnError(_ -> observed.end(Reason.INTERNAL.text()))
				.doOnCancel(() -> observed.end(Call.CANCELLED));
		});
	}

	private void end(String outcome) {
		if (this.isOver.compareAndSet(false, true)) {
			this.call.ended(outcome, this.time.nanos() - this.startedNanos);
		}
	}

}
