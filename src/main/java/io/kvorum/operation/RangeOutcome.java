package io.kvorum.operation;

/** The result of a range. */
public enum RangeOutcome {

	/** All entries were sent, or as many as the limit allows. */
	COMPLETE,

	/** Too few replicas could be read, before the first entry was sent. */
	FAILED,

	/** Too few replicas could be read, after some entries were sent. */
	BROKEN,

	/** The client cancelled the range. */
	CANCELLED

}
