package io.kvorum.wire;

/** The body of a request stalled or took too long; to be answered with 408. */
public final class RequestBodyTimeoutException extends RequestBodyException {

	private final Timeout timeout;

	RequestBodyTimeoutException(Timeout timeout) {
		super("The body of the request did not arrive in time (" + timeout + ")");
		this.timeout = timeout;
	}

	/** {@link Timeout#BODY_STALL} or {@link Timeout#BODY}. */
	public Timeout timeout() {
		return this.timeout;
	}

}
