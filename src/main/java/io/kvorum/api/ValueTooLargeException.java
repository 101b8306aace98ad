package io.kvorum.api;

/** The body of a request is longer than a value may be. */
final class ValueTooLargeException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ValueTooLargeException() {
		super("value too large", null, false, false);
	}

}
