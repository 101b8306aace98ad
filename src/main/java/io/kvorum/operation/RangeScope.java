package io.kvorum.operation;

/** The nodes that a range reads. */
public enum RangeScope {

	/** All nodes. */
	CLUSTER,

	/** Only the node that is asked. */
	NODE

}
