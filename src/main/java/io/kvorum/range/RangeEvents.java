package io.kvorum.range;

import io.kvorum.operation.RangeOutcome;
import io.kvorum.operation.RangeScope;

/** What happens to ranges, for those who count. Called by any thread. */
public interface RangeEvents {

	/** Where nobody counts. */
	RangeEvents NONE = new RangeEvents() {
	};

	/** A range has begun. */
	default void began(RangeScope scope) {
	}

	/**
	 * It is over.
	 * @param nanos how long it took, the client included
	 */
	default void ended(RangeScope scope, RangeOutcome outcome, long nanos) {
	}

	/** It would have been one too many. */
	default void refused(RangeScope scope) {
	}

	/** A piece of the answer was given. */
	default void returned(int entries, long valueBytes) {
	}

	/** A range goes on without a replica. */
	default void replicaLost() {
	}

	/** A replica takes part in a range again. */
	default void replicaBack() {
	}

}
