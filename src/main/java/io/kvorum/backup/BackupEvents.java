package io.kvorum.backup;

/**
 * Receives the events of backups, for meters. Called by the thread that works on them.
 */
public interface BackupEvents {

	/** Ignores all events. */
	BackupEvents NONE = new BackupEvents() {
	};

	/**
	 * The newest usable backup is known.
	 * @param madeMillis when it was made, in milliseconds since 1970
	 * @param bytes the size of its files
	 */
	default void found(long madeMillis, long bytes) {
	}

	/** The node has no usable backup. */
	default void foundNone() {
	}

	/**
	 * A backup was made.
	 * @param madeMillis when it was made, in milliseconds since 1970
	 * @param bytes the size of its files
	 * @param nanos how long that took
	 */
	default void made(long madeMillis, long bytes, long nanos) {
	}

	/** A requested backup could not be made. */
	default void failed() {
	}

}
