package io.kvorum.operation;

/** The result of an operation on a key. */
public enum Outcome {

	/** Enough replicas succeeded. */
	REACHED,

	/** The operation did not happen. */
	NOT_APPLIED,

	/** The condition of a write did not hold, and the write did not happen. */
	CONDITION_NOT_MET,

	/**
	 * Another write was in the way of this one: on the same key until the deadline, or
	 * with the same idempotency key. No replica has failed.
	 */
	CONFLICT,

	/** A write may have happened. */
	UNKNOWN

}
