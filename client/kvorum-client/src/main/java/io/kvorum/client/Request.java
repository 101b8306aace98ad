package io.kvorum.client;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;

/**
 * A request to any node.
 *
 * @param target path and query, encoded
 * @param body null if there is none
 */
record Request(HttpMethod method, String target, Map<String, String> headers, @Nullable Body body) {

	boolean isRead() {
		return this.method.equals(HttpMethod.GET) || this.method.equals(HttpMethod.HEAD);
	}

	Request withApiKey(String key) {
		Map<String, String> withKey = new HashMap<>(this.headers);
		withKey.put(HttpHeaders.AUTHORIZATION, "Bearer " + key.strip());
		return new Request(this.method, this.target, withKey, this.body);
	}

	/** Without the headers, one of which is the API key. */
	@Override
	public String toString() {
		return this.method + " " + this.target;
	}

	/**
	 * A value as it is sent.
	 */
	@SuppressWarnings("ArrayRecordComponent") // never compared
	record Body(byte[] bytes, String contentType) {
	}

}
