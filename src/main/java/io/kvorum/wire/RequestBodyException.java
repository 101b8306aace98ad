package io.kvorum.wire;

import java.time.Duration;

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

		private final boolean isStalled;

		private final Duration limit;

		/** Of a body of which no byte arrived for the limit, or which took that long. */
		TimedOut(boolean isStalled, Duration limit) {
			super("The body did not arrive in time");
			this.isStalled = isStalled;
			this.limit = limit;
		}

		/** Whether no byte of it arrived for the limit; else it took that long. */
		public boolean isStalled() {
			return this.isStalled;
		}

		public Duration limit() {
			return this.limit;
		}

	}

	/** A chunk of the body is malformed; to be answered with 400. */
	public static final class Malformed extends RequestBodyException {

		Malformed() {
			super("The body of the request has a malformed chunk");
		}

	}

}
