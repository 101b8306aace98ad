package io.kvorum.coordination;

import io.kvorum.operation.OperationEvents;

/** Receives the events of operations on keys, for meters. Called by any thread. */
public interface CoordinationEvents extends OperationEvents {

	/** Ignores all events. */
	CoordinationEvents NONE = new CoordinationEvents() {
	};

	/**
	 * A round of reads asked one more replica, because those that it asked first take
	 * long.
	 */
	default void hedged() {
	}

	/** A round of reads needed a hedge, but the budget for hedges is used up. */
	default void notHedged() {
	}

	/**
	 * A read found the newest entry on too few replicas, and waits until enough have it.
	 */
	default void wroteBack() {
	}

	/** A write without a condition met a promise, and goes on under a ballot. */
	default void refusedByPromise() {
	}

	/** A read met promises twice, and settles the key under a ballot. */
	default void settled() {
	}

	/**
	 * A write with a condition is over.
	 * @param ballots the number of its ballots; 0 if replicas answered without any
	 */
	default void compared(int ballots) {
	}

	/** A write with an idempotency key has looked for an earlier request. */
	default void idempotent(Repeat repeat) {
	}

	/** A replica was found behind and is repaired in the background. */
	default void repairing() {
	}

	/** A repair was dropped: too many were waiting. */
	default void repairDropped() {
	}

}
