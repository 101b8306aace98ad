package io.kvorum.testing;

import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.kvorum.testing.RawHttp.Response;

import static java.util.stream.Collectors.toMap;

/**
 * Single requests that no client library would send, each on a connection of its own.
 */
public final class RawRequest {

	private RawRequest() {
	}

	/** A request without a body; {@code target} as it stands in the request line. */
	public static Answer send(int port, String method, String target) {
		return send(port, method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n", new byte[0]);
	}

	/** Sends both parts, then reads the answer. */
	public static Answer send(int port, String head, byte[] rest) {
		try (RawHttp connection = RawHttp.connect(port)) {
			return answer(connection.send(head).send(rest));
		}
	}

	private static Answer answer(RawHttp connection) {
		Response response = connection.read();
		if (response == null) {
			throw new AssertionError("The connection was closed without an answer");
		}
		return answer(response);
	}

	static Answer answer(Response response) {
		Map<String, List<String>> headers = response.headers()
			.entrySet()
			.stream()
			.collect(toMap(Map.Entry::getKey, (header) -> List.of(header.getValue()), (a, b) -> a, TreeMap::new));
		return new Answer(response.status(), HttpHeaders.of(headers, (name, value) -> true),
				response.body().getBytes(StandardCharsets.ISO_8859_1));
	}

}
