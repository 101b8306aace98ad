package io.kvorum.operation;

/** The result of an operation on a key. */
public enum Outcome {

	/** Enough replicas succeeded. */
	REACHED,

	/** The operation did not happen. */
	NOT_APPLIED,

	/** A write may have happened. */
	UNKNOWN

}
