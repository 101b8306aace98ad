package io.kvorum.coordination;

import io.kvorum.operation.Operation;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.ReplicationPolicy.Consistency;

/** What happens to operations on keys, for those who count. Called by any thread. */
public interface CoordinationEvents {

	/** Where nobody counts. */
	CoordinationEvents NONE = new CoordinationEvents() {
	};

	/** An operation has its answer. */
	default void decided(Operation operation, Consistency consistency, Outcome outcome) {
	}

	/** A read asked one more replica, because those asked first took long. */
	default void hedged() {
	}

	/** A read would have been hedged, but the budget for that is used up. */
	default void notHedged() {
	}

	/**
	 * A read waits until what it found is on enough replicas: it was on too few of those
	 * it asked.
	 */
	default void wroteBack() {
	}

	/** A replica was found behind and is repaired in the background. */
	default void repairing() {
	}

	/** A repair was given up: too many waited. */
	default void repairDropped() {
	}

}
