package io.kvorum.operation;

import io.kvorum.operation.ReplicationPolicy.Consistency;

/** Receives the outcomes of operations on keys, for meters. Called by any thread. */
public interface OperationEvents {

	/** Ignores all events. */
	OperationEvents NONE = new OperationEvents() {
	};

	/** An operation has its answer. */
	default void decided(Operation operation, Consistency consistency, Outcome outcome) {
	}

}
