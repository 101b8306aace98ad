package io.kvorum.api;

/** Receives the events of requests for entities, for meters. */
public interface RequestEvents {

	/**
	 * A request was answered.
	 * @param method the method as the client sent it, which may be any word
	 * @param status the HTTP status; 0 if the client went away before
	 * @param nanos the time from the arrival of the headers to the end of the answer
	 */
	void answered(String method, int status, long nanos);

}
