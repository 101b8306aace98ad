package io.kvorum.api;

import io.kvorum.replication.OperationEvents;

/** Told how a request goes, and what it has done by replicas. */
public interface RequestTrace extends OperationEvents {

	/**
	 * It is over; told once.
	 * @param status the HTTP status; 0 where the client went away before
	 */
	void answered(int status);

}
