package io.kvorum.api;

/** A limit of the API is reached. Nothing was done. */
final class NotAcceptedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	NotAcceptedException(String detail) {
		super(detail, null, false, false);
	}

}
