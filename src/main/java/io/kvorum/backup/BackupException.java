package io.kvorum.backup;

/**
 * A request to the backups failed. The message is for an operator and says what to do.
 */
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

		/** There can be no backup of this name: nothing was touched. */
		BAD_NAME,

		/** No directory is set: nothing was touched. */
		NOT_CONFIGURED,

		/** Another backup, check or removal is under way: nothing was touched. */
		BUSY,

		/** The name is taken: nothing was touched. */
		EXISTS,

		/** No backup has this name: nothing was touched. */
		NOT_FOUND,

		/** The node may lack what it has acknowledged, or does not serve. */
		NOT_BELIEVED,

		/** The disk of the backups has too little space. */
		NO_SPACE,

		/** The backup cannot be used. */
		DAMAGED,

		/** The backup could not be made or removed; its remains are removed later. */
		FAILED

	}

}
