package io.kvorum.api;

import org.springframework.http.HttpMethod;

/** What happens to requests for entities, for those who count. */
public interface RequestEvents {

	/**
	 * A request was answered.
	 * @param method one of GET, HEAD, PUT, DELETE, or any other
	 * @param status the HTTP status; 0 where the client went away before
	 * @param nanos from the headers received to the answer handed over
	 */
	void answered(HttpMethod method, int status, long nanos);

}
