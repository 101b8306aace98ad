package io.kvorum.backup;

/** An observer of the backups of a node, called by the thread that works on them. */
public interface BackupEvents {

	/** Ignores all events. */
	BackupEvents NONE = new BackupEvents() {
	};

	/** The newest good backup was made at this instant and has this size. */
	default void found(long madeMillis, long bytes) {
	}

	/** There is no good backup, or none is left. */
	default void foundNone() {
	}

	/** A backup was made in this time. */
	default void made(long madeMillis, long bytes, long nanos) {
	}

	/** A requested backup was not made. */
	default void failed() {
	}

}
