package io.kvorum.backup;

/** Failure of a request to the backups. The message tells an operator what to do. */
public final class BackupException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final Kind kind;

	public BackupException(Kind kind, String message) {
		super(message);
		this.kind = kind;
	}

	public BackupException(Kind kind, String message, Throwable cause) {
		super(message, cause);
		this.kind = kind;
	}

	public Kind kind() {
		return this.kind;
	}

	/** The kind of a failure. */
	public enum Kind {

		/** The name has a wrong form. Nothing was touched. */
		BAD_NAME,

		/** No directory is set. Nothing was touched. */
		NOT_CONFIGURED,

		/**
		 * Other work on the backups is under way, another process uses the directory, or
		 * the nodes have changed while the store was copied. There is no new backup.
		 */
		BUSY,

		/** The name is taken. Nothing was touched. */
		EXISTS,

		/** No backup has this name. Nothing was touched. */
		NOT_FOUND,

		/** The node is in quarantine: it may lack writes that it has acknowledged. */
		WITHOUT_VOTE,

		/** The disk of the backups has too little space. */
		NO_SPACE,

		/** The backup cannot be used. */
		DAMAGED,

		/** The disk or the store has failed. The next backup removes what is left. */
		FAILED

	}

}
