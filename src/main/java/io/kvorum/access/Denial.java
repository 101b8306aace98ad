package io.kvorum.access;

/**
 * The reason for a denial, for operators. The first four get the same answer, so that a
 * client without a valid key does not learn the reason.
 */
public enum Denial {

	/** The request has no key. */
	MISSING,

	/** The credentials do not have the form of a key, or the request has several. */
	MALFORMED,

	/** There is no key of this id, or the secret is wrong. */
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
	RATE

}
