package io.kvorum.coordination;

/** What was found of a write with an idempotency key. */
public enum Repeat {

	/** Nothing: it is done now. */
	FIRST,

	/** An earlier request that did not end: it is brought to its end. */
	RESUMED,

	/** An earlier request with its outcome, which is the answer. */
	ANSWERED,

	/** An earlier request that is under way, here or on another node. */
	UNDER_WAY,

	/** Another request with the same key. */
	REUSED

}
