package io.kvorum.replication;

import java.util.List;

/**
 * An operation on a key did not succeed. Its caller wants to know whether to try again
 * and whether a write may have happened: see {@link #mayRetry()} and
 * {@link #mayHaveHappened()}.
 * <p>
 * Without a stack trace: under overload there are thousands.
 */
public final class OperationFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final Kind kind;

	private final int required;

	private final int acknowledged;

	private final transient List<ReplicaFailure> replicas;

	OperationFailedException(Kind kind, int required, int acknowledged, List<ReplicaFailure> replicas,
			Throwable cause) {
		super(String.valueOf(cause.getMessage()), cause, false, false);
		this.kind = kind;
		this.required = required;
		this.acknowledged = acknowledged;
		this.replicas = replicas;
	}

	public Kind kind() {
		return this.kind;
	}

	/** How many replicas had to answer. */
	public int required() {
		return this.required;
	}

	/** How many did. */
	public int acknowledged() {
		return this.acknowledged;
	}

	/** The replicas that did not. */
	public List<ReplicaFailure> replicas() {
		return this.replicas;
	}

	/** Whether a write may have happened, or may yet show. */
	public boolean mayHaveHappened() {
		return this.replicas.stream().anyMatch(ReplicaFailure::mayHaveHappened);
	}

	/** Whether the same may succeed when tried again. */
	public boolean mayRetry() {
		return this.replicas.stream().allMatch(ReplicaFailure::mayRetry);
	}

	/** What stood in the way. */
	public enum Kind {

		/**
		 * A limit, or a node that is starting or stopping: the operation did not begin.
		 */
		NOT_ACCEPTED,

		/** No disk has space for it. */
		NO_SPACE,

		/** Too few replicas answered, or answered in time. */
		NOT_ENOUGH_REPLICAS

	}

	/** What became of the operation on one replica. */
	public record ReplicaFailure(String node, String reason, boolean mayHaveHappened, boolean mayRetry) {
	}

}
