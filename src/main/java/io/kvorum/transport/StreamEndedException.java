package io.kvorum.transport;

import io.kvorum.quorum.Reply.Reason;

/** Signals that a stream has ended or was not opened; the message says why. */
final class StreamEndedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final Reason reason;

	StreamEndedException(Reason reason, String message) {
		super(message, null, false, false);
		this.reason = reason;
	}

	/** The reason for which operations fail until a stream is open again. */
	Reason reason() {
		return this.reason;
	}

}
