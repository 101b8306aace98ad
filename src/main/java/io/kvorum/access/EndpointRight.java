package io.kvorum.access;

/** A right of a key to the management endpoints. Neither includes the other. */
public enum EndpointRight {

	/** Read them. */
	METRICS,

	/** Start operations by them. */
	OPERATE

}
