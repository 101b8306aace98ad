package io.kvorum.wire;

/** A chunk of the body of a request is malformed; to be answered with 400. */
public final class MalformedRequestBodyException extends RequestBodyException {

	MalformedRequestBodyException() {
		super("The body of the request has a malformed chunk");
	}

}
