package io.kvorum.api;

import io.kvorum.operation.OperationObserver;

/** Observes a request and the operation that it begins. */
public interface RequestTrace extends OperationObserver {

	/**
	 * The request is over. Called once.
	 * @param status the HTTP status; 0 if the client went away before
	 */
	void answered(int status);

}
