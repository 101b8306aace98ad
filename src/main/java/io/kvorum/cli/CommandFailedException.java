package io.kvorum.cli;

/** Signals that a command has failed. The message tells why and what to do. */
final class CommandFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/** Below are answers of servers of another kind, if nothing was done. */
	private static final int FIRST_PASSING_STATUS = 408;

	private final ExitCode exitCode;

	private final int status;

	CommandFailedException(ExitCode exitCode, String message) {
		this(exitCode, message, 0);
	}

	/**
	 * Creates the failure of a request.
	 * @param status that of the answer; 0 without one
	 */
	CommandFailedException(ExitCode exitCode, String message, int status) {
		super(message, null, false, false);
		this.exitCode = exitCode;
		this.status = status;
	}

	int status() {
		return this.status;
	}

	/**
	 * Whether nothing was done, and the same may succeed later. The server is the right
	 * one, or was not reached.
	 */
	boolean mayPass() {
		return this.exitCode == ExitCode.NOT_DONE && (this.status == 0 || this.status >= FIRST_PASSING_STATUS);
	}

	ExitCode exitCode() {
		return this.exitCode;
	}

}
