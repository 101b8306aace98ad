package io.kvorum.operation;

import io.kvorum.kv.Replicas;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import org.jspecify.annotations.Nullable;

/**
 * Observes one operation. Called by any thread. A call of a replica may end after the
 * operation, if the answer did not wait for it.
 */
public interface OperationObserver {

	/** Observes nothing, at no cost. */
	OperationObserver NONE = new OperationObserver() {
		@Override
		public boolean isObserving() {
			return false;
		}
	};

	/** Combines two observers; either may be null. */
	static OperationObserver both(@Nullable OperationObserver one, @Nullable OperationObserver other) {
		if (one == null) {
			return (other != null) ? other : NONE;
		}
		return (other != null) ? new OperationObservers(one, other) : one;
	}

	/** Whether calls and steps are timed and reported. */
	default boolean isObserving() {
		return true;
	}

	/** An operation on a key begins. */
	default void began(Replicas asked, Consistency consistency) {
	}

	/** A range begins. */
	default void began(RangeScope scope) {
	}

	/**
	 * A replica is asked.
	 * @param replica the address of its node
	 * @param hedge whether it is a hedged request: those asked first take long
	 * @return observes the call
	 */
	default Call asked(String replica, Step step, boolean hedge) {
		return Call.UNOBSERVED;
	}

	/**
	 * A conditional write, or one that met a promise, takes a ballot.
	 * @param attempt its number, from 1 on
	 */
	default void attempted(int attempt) {
	}

	/** A step is decided, with success or without. */
	default void took(Step step, long nanos) {
	}

	/** An operation on a key has its answer. */
	default void decided(Outcome outcome) {
	}

	/** A range is over. */
	default void ended(RangeOutcome outcome) {
	}

	/** A call of a replica. */
	interface Call {

		/** Observes nothing. */
		Call UNOBSERVED = (_, _) -> {
		};

		/** The outcome of a call whose reply is no longer needed. */
		String CANCELLED = "cancelled";

		/**
		 * The call ended. Called once.
		 * @param outcome {@code ok}, why it failed, or {@link #CANCELLED}
		 */
		void ended(String outcome, long nanos);

	}

	/** The kinds of requests to replicas. */
	enum Step {

		/** Reads versions, before a write. */
		VERSIONS("versions"),

		/** Stores an entry. */
		STORE("store"),

		/** Reads entries. */
		READ("read"),

		/** Stores the entry that a read found on too few replicas. */
		WRITE_BACK("write-back"),

		/** Asks for promises of a ballot. */
		PREPARE("prepare"),

		/** Proposes an entry under a ballot. */
		ACCEPT("accept"),

		/** Reads a page of a range, or a large value of it. */
		PAGE("page");

		private final String text;

		Step(String text) {
			this.text = text;
		}

		/** The name in traces and in {@code Server-Timing}. */
		public String text() {
			return this.text;
		}

	}

}
