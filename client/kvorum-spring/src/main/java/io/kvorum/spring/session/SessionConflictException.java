package io.kvorum.spring.session;

import org.jspecify.annotations.Nullable;

/**
 * A save that was given up because of other requests that have saved the same session.
 * Nothing of it was stored. Read the session again before the next one.
 */
public final class SessionConflictException extends RuntimeException {

	private static final long serialVersionUID = 1;

	SessionConflictException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
