package io.kvorum.replication;

/** What happens to ranges, for those who count. Called by any thread. */
public interface RangeEvents {

	/** Where nobody counts. */
	RangeEvents NONE = new RangeEvents() {
	};

	/** A range has begun. */
	default void began(Scope scope) {
	}

	/**
	 * It is over.
	 * @param nanos how long it took, the client included
	 */
	default void ended(Scope scope, Outcome outcome, long nanos) {
	}

	/** It would have been one too many. */
	default void refused(Scope scope) {
	}

	/** A piece of the answer was given. */
	default void told(int entries, long valueBytes) {
	}

	/** A range goes on without a replica. */
	default void replicaLost() {
	}

	/** A replica takes part in a range again. */
	default void replicaBack() {
	}

	/** Where a range looks. */
	enum Scope {

		/** At all nodes. */
		CLUSTER,

		/** At this one. */
		NODE

	}

	/** What became of a range. */
	enum Outcome {

		/** All was told, or as much as was asked for. */
		COMPLETE,

		/** Too little could be read, and nothing had been told. */
		FAILED,

		/** Too little could be read, and something had been told. */
		BROKEN,

		/** Nobody wanted the rest. */
		CANCELLED

	}

}
