package io.kvorum.access;

/** A right of a key to the management endpoints. Neither right includes the other. */
public enum EndpointRight {

	/** GET and HEAD of an endpoint. */
	METRICS,

	/** All other methods, which start operations. */
	OPERATE

}
