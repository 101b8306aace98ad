package io.kvorum.coordination;

import java.time.Duration;
import java.util.function.BiFunction;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.quorum.Tally;
import io.kvorum.quorum.Tally.Decision;
import io.kvorum.replication.ReplicaSet;
import org.jspecify.annotations.Nullable;

/** One operation on a key: its replicas, consistency, deadline and observer. */
abstract class KeyOperation {

	final Coordinator node;

	final Key key;

	final Replicas asked;

	final ReplicaSet set;

	final Consistency consistency;

	final Deadline deadline;

	private final Operation operation;

	private final OperationObserver observer;

	KeyOperation(Coordinator node, Operation operation, Key key, Replicas asked, Duration timeout,
			OperationObserver observer) {
		this.node = node;
		this.operation = operation;
		this.key = key;
		this.asked = asked;
		this.set = node.replicasOf(key, asked);
		this.consistency = node.policy().consistencyOf(asked);
		this.deadline = Deadline.after(node.time, timeout);
		this.observer = observer;
		observer.began(asked, this.consistency);
	}

	/** Observes one round; null if the operation is not observed. */
	final @Nullable ObservedRound observe(Step step) {
		return this.observer.isObserving() ? new ObservedRound(step, this.set, this.observer, this.node.time) : null;
	}

	/**
	 * Returns the tally if it has been reached.
	 * @throws OperationFailedException if it cannot be reached
	 */
	final Tally reached(Tally tally, BiFunction<ReplicaSet, Tally, OperationFailedException> failure) {
		if (tally.decision() == Decision.UNREACHABLE) {
			throw failure.apply(this.set, tally);
		}
		return tally;
	}

	final void decided(Outcome outcome) {
		this.node.events.decided(this.operation, this.consistency, outcome);
		this.observer.decided(outcome);
	}

}
