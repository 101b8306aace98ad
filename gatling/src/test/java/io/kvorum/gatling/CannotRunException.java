package io.kvorum.gatling;

/**
 * Ends a run before the first user. Its message says what to do; it has no stack trace,
 * since that would not help.
 */
final class CannotRunException extends RuntimeException {

	CannotRunException(String message) {
		super(message, null, false, false);
	}

}
