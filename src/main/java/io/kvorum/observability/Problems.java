package io.kvorum.observability;

import java.util.LinkedHashMap;
import java.util.Map;

import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.util.MimeType;

/**
 * Problem details (RFC 9457) of refused or failed requests to an actuator endpoint, in
 * the form of those of the API.
 */
final class Problems {

	private static final MimeType PROBLEM = MimeType.valueOf("application/problem+json");

	private Problems() {
	}

	static WebEndpointResponse<Object> of(int status, String type, String title, String detail) {
		return of(status, type, title, detail, Map.of());
	}

	/**
	 * A problem with fields beside the standard ones.
	 */
	static WebEndpointResponse<Object> of(int status, String type, String title, String detail,
			Map<String, Object> more) {
		Map<String, Object> problem = new LinkedHashMap<>();
		problem.put("type", "urn:kvorum:problem:" + type);
		problem.put("title", title);
		problem.put("status", status);
		problem.put("detail", detail);
		problem.putAll(more);
		return new WebEndpointResponse<>(problem, status, PROBLEM);
	}

}
