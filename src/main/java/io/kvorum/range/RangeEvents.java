package io.kvorum.range;

import io.kvorum.operation.RangeOutcome;
import io.kvorum.operation.RangeScope;

/** Receives the events of ranges, for meters. Called by any thread. */
public interface RangeEvents {

	/** Ignores all events. */
	RangeEvents NONE = new RangeEvents() {
	};

	/** A range has begun. */
	default void began(RangeScope scope) {
	}

	/**
	 * A range is over.
	 * @param nanos the duration of the range; it includes the time that the client took
	 */
	default void ended(RangeScope scope, RangeOutcome outcome, long nanos) {
	}

	/** A range was refused because of a limit. */
	default void refused(RangeScope scope) {
	}

	/**
	 * A piece of the answer was returned.
	 * @param bytes the length of its keys and values
	 */
	default void returned(int entries, long bytes) {
	}

	/** A range goes on without a replica. */
	default void replicaLost() {
	}

	/** A replica takes part in a range again. */
	default void replicaBack() {
	}

}
