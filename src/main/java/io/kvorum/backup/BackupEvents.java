package io.kvorum.backup;

/** Observes the backups of a node, on the thread that makes them. */
public interface BackupEvents {

	/** Observes nothing. */
	BackupEvents NONE = new BackupEvents() {
	};

	/** There is a good backup that was made at this instant, with so many bytes. */
	default void found(long madeMillis, long bytes) {
	}

	/** There is no good backup, or not any more. */
	default void foundNone() {
	}

	/** A backup was made, and how long that took. */
	default void made(long madeMillis, long bytes, long nanos) {
	}

	/** A backup that was asked for was not made. */
	default void failed() {
	}

}
