package io.kvorum.api;

/** What happens to requests for entities, for those who count. */
public interface RequestEvents {

	/**
	 * A request was answered.
	 * @param method in capitals; what a client sent, whatever it is
	 * @param status the HTTP status; 0 where the client went away before
	 * @param nanos from the headers received to the answer handed over
	 */
	void answered(String method, int status, long nanos);

}
