package io.kvorum.access;

/**
 * Why a request was not let in. For those who run a node: strangers are not told the
 * first four apart.
 */
public enum Denial {

	/** It came without a key. */
	MISSING,

	/** What it came with has not the form of a key, or it came with several. */
	MALFORMED,

	/** There is no key of this id, or its secret is another one. */
	WRONG,

	/** The key has expired. */
	EXPIRED,

	/** The key may not do this with this entity. */
	ENTITY,

	/** The range does not lie inside a prefix that the key may list. */
	RANGE,

	/** The key may not use this management endpoint in this way. */
	ENDPOINT,

	/** The key has used up its rate. */
	RATE;

	/** Whether the caller is unknown. */
	public boolean isOfStrangers() {
		return compareTo(EXPIRED) <= 0;
	}

}
