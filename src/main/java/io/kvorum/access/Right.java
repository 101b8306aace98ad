package io.kvorum.access;

/** A right of a key to the entries below a prefix. */
public enum Right {

	/** GET and HEAD of an entity. */
	READ,

	/** PUT of an entity. */
	WRITE,

	/** DELETE of an entity. */
	DELETE,

	/** GET of a range. */
	RANGE

}
