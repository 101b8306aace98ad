package io.kvorum.client;

import java.util.Map;

import org.jspecify.annotations.Nullable;
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

	/**
	 * A value as it is sent.
	 */
	@SuppressWarnings("ArrayRecordComponent") // never compared
	record Body(byte[] bytes, String contentType) {
	}

}
