package io.kvorum.storage;

/** The loss that an acknowledged write survives. */
public enum Durability {

	/** Written to the disk: survives a loss of power. */
	FSYNC,

	/**
	 * Written to the operating system: survives the end of the process. It survives a
	 * loss of power only if the system has written it by then.
	 */
	OS

}
