package io.kvorum.coordination;

import java.time.Duration;
import java.util.function.BiFunction;

import io.kvorum.clock.ClockBoundException;
import io.kvorum.clock.ClockLeadException;
import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Version;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;
import io.kvorum.quorum.Tally.Decision;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.OperationFailures;
import io.kvorum.replication.ReplicaSet;
import io.kvorum.storage.StorageException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One operation on a key: its replicas, consistency, deadline and observer. */
abstract class KeyOperation {

	final Coordinator node;

	final View view;

	final Key key;

	final Replicas asked;

	final ReplicaSet set;

	final Consistency consistency;

	final Deadline deadline;

	private final Operation operation;

	final OperationObserver observer;

	/**
	 * Creates an operation.
	 * @param view the nodes, to its end
	 */
	KeyOperation(Coordinator node, View view, Operation operation, Key key, Replicas asked, Deadline deadline,
			OperationObserver observer) {
		this.node = node;
		this.view = view;
		this.operation = operation;
		this.key = key;
		this.asked = this.view.of(asked);
		this.set = this.view.replicasOf(key, this.asked);
		this.consistency = this.view.policy().consistencyOf(this.asked);
		this.deadline = deadline;
		this.observer = observer;
		observer.began(this.asked, this.consistency);
	}

	/**
	 * The time that other replicas have to decide a round once a promise has refused.
	 * Null if the operation does not go on by a ballot.
	 */
	final @Nullable Mono<Long> patience() {
		return (this.consistency == Consistency.LINEARIZABLE) ? this.node.patience : null;
	}

	final boolean isDelete() {
		return this.operation == Operation.DELETE;
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

	/**
	 * Gives a version above another one, once the clock's bound on disk is above it too.
	 */
	final Mono<Version> next(Version seen) {
		try {
			return Mono.just(nextOrThrow(seen));
		}
		catch (ClockLeadException ex) {
			return Mono.error(notBegun(ex));
		}
		catch (ClockBoundException _) {
			Mono<Void> extended = Mono.fromCompletionStage(this.node.clock::extension).then();
			return Mono.firstWithSignal(extended, tooLate())
				// The bound is stored on any thread; the write goes on, on the caller's.
				.publishOn(Schedulers.fromExecutor(this.node.callers.current()))
				.then(Mono.fromSupplier(() -> nextOrThrow(seen)))
				.onErrorMap(this::notBegun);
		}
	}

	/** Completes at the deadline. */
	final Mono<Long> untilDeadline() {
		return Mono.defer(() -> this.node.alarms
			.after(Duration.ofNanos(Math.max(0, this.deadline.remainingNanos(this.node.time)))));
	}

	/** Fails at the deadline. */
	private Mono<Void> tooLate() {
		return untilDeadline().then(Mono.error(() -> OperationFailures.notBegun(this.asked.ack(), this.view.self(),
				Failed.notDone(Reason.TIMEOUT, "the disk did not take the bound of the clock in time"))));
	}

	/**
	 * Gives the version: on a single node however far ahead of its clock, in a cluster up
	 * to the limit.
	 */
	private Version nextOrThrow(Version seen) {
		return this.view.isAlone() ? this.node.clock.nextAlone(seen) : this.node.clock.nextAfter(seen);
	}

	private OperationFailedException notBegun(Throwable cause) {
		if (cause instanceof OperationFailedException failed) {
			return failed;
		}
		Failed why = (cause instanceof StorageException ex) ? LocalReplica.failure(ex)
				: Failed.notDone(Reason.CLOCK, String.valueOf(cause.getMessage()));
		return OperationFailures.notBegun(this.asked.ack(), this.view.self(), why);
	}

	/**
	 * Makes the newest entry what a majority holds, if need be under a ballot.
	 * @param seen a version that ballots have to be above
	 * @param least the least version that the entry is to have
	 * @return the entry, as it is held now
	 */
	final Mono<Held> settle(Version seen, Version least) {
		Proposer proposer = new Proposer(this, seen);
		return proposer.run(promised -> {
			Entry newest = promised.newest();
			if (newest == null) {
				return Mono.just(Held.nothing());
			}
			boolean isSettled = promised.isChosen() && !least.isNewerThan(promised.version());
			return isSettled ? Mono.just(Held.of(newest)) : proposer.acceptAgain(promised, newest).map(Held::of);
		}, () -> OperationFailures.ofContention(this.asked.ack()));
	}

	/** The failure of this operation if too few replicas have promised a ballot. */
	OperationFailedException unpromised(Tally tally) {
		return OperationFailures.ofReads(this.set, tally);
	}

	/** Reports the replicas that miss an entry; null if there are no others. */
	final @Nullable Missed missed(Entry entry) {
		return this.view.isAlone() ? null : new Missed(this, entry);
	}

	/** Reports the outcome, except for an internal key: no client has asked for that. */
	final void decided(Outcome outcome) {
		if (!InternalKeys.isInternal(this.key)) {
			this.node.events.decided(this.operation, this.consistency, outcome);
			this.observer.decided(outcome);
		}
	}

}
