package io.kvorum.access;

/** What a key may do with the management endpoints. Neither has the other in it. */
public enum EndpointRight {

	/** Read them. */
	METRICS,

	/** Have them do something. */
	OPERATE

}
