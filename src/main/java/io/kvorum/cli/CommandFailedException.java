package io.kvorum.cli;

/** Signals that a command has failed. The message tells why and what to do. */
final class CommandFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final ExitCode exitCode;

	CommandFailedException(ExitCode exitCode, String message) {
		super(message, null, false, false);
		this.exitCode = exitCode;
	}

	ExitCode exitCode() {
		return this.exitCode;
	}

}
