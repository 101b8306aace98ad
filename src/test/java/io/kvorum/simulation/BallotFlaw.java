package io.kvorum.simulation;

/** What a replica may do wrong with ballots. */
enum BallotFlaw {

	/** A put that a promise refuses is acknowledged. */
	PUT_CLAIMED,

	/** A write-back that a promise refuses is acknowledged. */
	READ_NOT_WRITTEN_BACK,

	/** A write that is proposed again gets a new identity. */
	NEW_ETAG,

	/** A coordinator is not told that a promise was in the way of a put. */
	REFUSAL_UNTOLD

}
