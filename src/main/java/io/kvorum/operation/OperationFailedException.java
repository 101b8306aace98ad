package io.kvorum.operation;

import java.util.List;
import java.util.Set;

/**
 * Reports an operation that did not succeed. {@link #mayHaveHappened()} says whether a
 * write may have happened, {@link #mayRetry()} whether to try again.
 * <p>
 * It has no stack trace: under overload there are thousands.
 */
public final class OperationFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final Kind kind;

	private final int required;

	private final int acknowledged;

	private final boolean mayHaveHappened;

	private final boolean mayRetry;

	private final transient List<ReplicaFailure> replicas;

	/**
	 * Creates the failure of an operation.
	 * @param required the replicas that had to succeed
	 * @param acknowledged the replicas that did
	 * @param replicas the replicas that did not
	 */
	public OperationFailedException(Kind kind, String message, int required, int acknowledged, boolean mayHaveHappened,
			boolean mayRetry, List<ReplicaFailure> replicas) {
		super(message, null, false, false);
		this.kind = kind;
		this.required = required;
		this.acknowledged = acknowledged;
		this.mayHaveHappened = mayHaveHappened;
		this.mayRetry = mayRetry;
		this.replicas = List.copyOf(replicas);
	}

	public Kind kind() {
		return this.kind;
	}

	/** The number of replicas that had to succeed. */
	public int required() {
		return this.required;
	}

	/** The number of replicas that did. */
	public int acknowledged() {
		return this.acknowledged;
	}

	/** The replicas that did not succeed. */
	public List<ReplicaFailure> replicas() {
		return this.replicas;
	}

	/**
	 * Whether nothing is in the way but replicas that are known to be away. There may be
	 * more of those: the others had not replied yet.
	 */
	public boolean isOfAbsence() {
		return this.replicas.stream().anyMatch(replica -> replica.reason().equals(ReplicaFailure.AWAY))
				&& this.replicas.stream().allMatch(replica -> ReplicaFailure.ABSENCES.contains(replica.reason()));
	}

	/** Whether a write may have happened, or may still become visible. */
	public boolean mayHaveHappened() {
		return this.mayHaveHappened;
	}

	/** The outcome of the operation. */
	public Outcome outcome() {
		return switch (this.kind) {
			case CONTENTION, UNDER_WAY, KEY_REUSED -> Outcome.CONFLICT;
			case NOT_ACCEPTED, NO_SPACE, NOT_ENOUGH_REPLICAS, NOT_SUPPORTED ->
				this.mayHaveHappened ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
		};
	}

	/** Whether the same operation may succeed when it is repeated. */
	public boolean mayRetry() {
		return this.mayRetry;
	}

	/** The cause of a failure. */
	public enum Kind {

		/**
		 * A limit is reached, a clock is wrong, or nodes start, stop or are rebuilt.
		 * Nothing was done.
		 */
		NOT_ACCEPTED,

		/**
		 * Other conditional writes of the key came in between until the deadline. Nothing
		 * was done.
		 */
		CONTENTION,

		/** Another write with the same idempotency key is under way. */
		UNDER_WAY,

		/**
		 * The idempotency key is that of a write with other content. Nothing was done.
		 */
		KEY_REUSED,

		/** The disks have no space for the write. */
		NO_SPACE,

		/** Too few replicas succeeded in time. */
		NOT_ENOUGH_REPLICAS,

		/** This store has no such operation. */
		NOT_SUPPORTED

	}

	/** The failure of one replica, or that it had not replied yet. */
	public record ReplicaFailure(String node, String reason, boolean mayHaveHappened, boolean mayRetry) {

		/** The reason of a replica that is known to be away and was not asked. */
		public static final String AWAY = "away";

		/** The reason of a replica that had not replied when the others decided. */
		public static final String PENDING = "pending";

		private static final Set<String> ABSENCES = Set.of(AWAY, PENDING);

	}

}
