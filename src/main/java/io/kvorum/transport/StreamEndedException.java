package io.kvorum.transport;

import io.kvorum.quorum.Reply.Reason;

/** A stream has ended, or was not opened; its message says why. */
final class StreamEndedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final Reason reason;

	StreamEndedException(Reason reason, String message) {
		super(message, null, false, false);
		this.reason = reason;
	}

	/** The reason that is given to further operations. */
	Reason reason() {
		return this.reason;
	}

}
