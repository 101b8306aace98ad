package io.kvorum.storage;

/** The place that an acknowledged write has reached. */
public enum Durability {

	/** The disk: it survives a loss of power. */
	FSYNC,

	/**
	 * The operating system: it survives the end of the process, and a loss of power only
	 * where the system has written it by then.
	 */
	OS

}
