package io.kvorum.gatling;

/**
 * Ends a run before the first user. For the one who started it: it says what to do, and
 * where it was thrown does not help.
 */
final class CannotRunException extends RuntimeException {

	CannotRunException(String message) {
		super(message, null, false, false);
	}

}
