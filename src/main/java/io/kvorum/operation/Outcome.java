package io.kvorum.operation;

/** The result of an operation on a key. */
public enum Outcome {

	/** Enough replicas succeeded. */
	REACHED,

	/** The operation did not happen. */
	NOT_APPLIED,

	/** The condition of a write did not hold, and the write did not happen. */
	CONDITION_NOT_MET,

	/** A write may have happened. */
	UNKNOWN

}
