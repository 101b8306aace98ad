package io.kvorum.cli;

/** Signals that a command has failed. The message tells why and what to do. */
final class CommandFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

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

	ExitCode exitCode() {
		return this.exitCode;
	}

}
