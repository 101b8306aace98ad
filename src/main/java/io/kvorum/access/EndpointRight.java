package io.kvorum.access;

/** A right of a key to the management endpoints. Neither right includes the other. */
public enum EndpointRight {

	/** GET and HEAD of an endpoint, but not the check of a backup. */
	METRICS,

	/** All that starts an operation: the other methods, and the check of a backup. */
	OPERATE

}
