package io.kvorum.wire;

/** A time limit of {@link WireLimits} that a connection has met. */
public enum Timeout {

	/** No request on a keep-alive connection: closed in silence. */
	IDLE,

	/** The headers of a request took too long: 408, or silence if not a byte came. */
	HEADER,

	/** No byte of a body arrived for too long. */
	BODY_STALL,

	/** A body took too long as a whole. */
	BODY,

	/** The client does not read its response, or too slowly: closed. */
	WRITE_STALL,

	/** The client did not close in time after its last answer: closed. */
	LINGER

}
