package io.kvorum.wire;

/**
 * The error of a body that will not arrive whole, given to whoever reads it. The request
 * must not be acted upon: part of its value is missing. The connection is closed after
 * the response.
 */
public abstract sealed class RequestBodyException extends RuntimeException
		permits RequestBodyTimeoutException, MalformedRequestBodyException {

	RequestBodyException(String message) {
		super(message, null, false, false);
	}

}
