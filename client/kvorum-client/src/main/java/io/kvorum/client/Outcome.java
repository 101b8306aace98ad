package io.kvorum.client;

/** Whether a request that failed has done something. */
public enum Outcome {

	/** It did nothing, and will not. */
	NOT_APPLIED,

	/** It may have happened, or may happen later. */
	UNKNOWN

}
