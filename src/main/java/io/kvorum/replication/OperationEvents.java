package io.kvorum.replication;

import io.kvorum.kv.Replicas;
import io.kvorum.replication.ReplicationPolicy.Consistency;

/**
 * What happens to one operation, for one who follows it. Called by any thread. Replicas
 * that its answer did not wait for may end their calls after the operation has ended.
 */
public interface OperationEvents {

	/** Where nobody follows, as usual. */
	OperationEvents NONE = new OperationEvents() {
		@Override
		public boolean isFollowing() {
			return false;
		}
	};

	/** Whether calls and steps are to be told, and timed for that. */
	default boolean isFollowing() {
		return true;
	}

	/** An operation on a key begins. */
	default void began(Replicas asked, Consistency consistency) {
	}

	/** A range begins. */
	default void began(RangeEvents.Scope scope) {
	}

	/**
	 * A replica is asked.
	 * @param replica the address of its node
	 * @param hedge whether that is because those asked first take long
	 * @return told what becomes of it
	 */
	default Call asked(String replica, Step step, boolean hedge) {
		return Call.UNFOLLOWED;
	}

	/** A step has been decided, one way or the other, after so long. */
	default void took(Step step, long nanos) {
	}

	/** An operation on a key has its answer. */
	default void decided(ReplicationEvents.Outcome outcome) {
	}

	/** A range is over. */
	default void ended(RangeEvents.Outcome outcome) {
	}

	/** A call of a replica. */
	interface Call {

		/** Where nobody follows it. */
		Call UNFOLLOWED = (_, _) -> {
		};

		/** The outcome of one whose reply nobody waits for any more. */
		String CANCELLED = "cancelled";

		/**
		 * It is over; told once.
		 * @param outcome {@code ok}, why it failed, or {@link #CANCELLED}
		 */
		void ended(String outcome, long nanos);

	}

	/** What replicas are asked for. */
	enum Step {

		/** The versions they hold, before a write. */
		VERSIONS("versions"),

		/** To store what is written. */
		STORE("store"),

		/** What they hold. */
		READ("read"),

		/** To store what was read, where it was on too few of them. */
		WRITE_BACK("write-back"),

		/** A page of a range, or a large value of it. */
		PAGE("page");

		private final String text;

		Step(String text) {
			this.text = text;
		}

		/** As traces and timings have it. */
		public String text() {
			return this.text;
		}

	}

}
