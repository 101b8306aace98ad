package io.kvorum.wire;

/**
 * The error that the reader of a body gets if the body does not arrive whole. The request
 * must not be acted upon: part of its value is missing. The connection is closed after
 * the response.
 */
public abstract sealed class RequestBodyException extends RuntimeException {

	private RequestBodyException(String message) {
		super(message, null, false, false);
	}

	/** The body stalled or took too long; to be answered with 408. */
	public static final class TimedOut extends RequestBodyException {

		TimedOut(Timeout timeout) {
			super("The body of the request did not arrive in time (" + timeout + ")");
		}

	}

	/** A chunk of the body is malformed; to be answered with 400. */
	public static final class Malformed extends RequestBodyException {

		Malformed() {
			super("The body of the request has a malformed chunk");
		}

	}

}
