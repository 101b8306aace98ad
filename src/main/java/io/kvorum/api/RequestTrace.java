package io.kvorum.api;

import io.kvorum.operation.OperationObserver;

/** Told how a request goes, and what it has done by replicas. */
public interface RequestTrace extends OperationObserver {

	/**
	 * It is over; told once.
	 * @param status the HTTP status; 0 where the client went away before
	 */
	void answered(int status);

}
