package io.kvorum.client;

import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;

/** Makes the requests of the API. */
final class Requests {

	private static final int MAX_KEY_BYTES = 1024;

	private static final String NDJSON = "application/x-ndjson";

	/** In a request: what is wanted. In each answer about a value: what was given. */
	static final String CONSISTENCY = "Kvorum-Consistency";

	private static final String EVENTUAL = "eventual";

	private Requests() {
	}

	static Request get(String key, ReadOptions options) {
		return read(HttpMethod.GET, key, options.consistency());
	}

	static Request head(String key, ReadOptions options) {
		return read(HttpMethod.HEAD, key, options.consistency());
	}

	private static Request read(HttpMethod method, String key, Consistency wanted) {
		return new Request(method, entity(key, wanted.level()),
				wanted.isEventual() ? Map.of(CONSISTENCY, EVENTUAL) : Map.of(), null);
	}

	static Request put(String key, byte[] value, String contentType, WriteOptions options) {
		String target = entity(key, options.consistency().level());
		if (options.ttl() != null) {
			target += "&ttl=" + options.ttl();
		}
		return new Request(HttpMethod.PUT, target, headers(options), new Request.Body(value, contentType));
	}

	static Request delete(String key, WriteOptions options) {
		if (options.ttl() != null) {
			throw new IllegalArgumentException("a delete has no ttl");
		}
		return new Request(HttpMethod.DELETE, entity(key, options.consistency().level()), headers(options), null);
	}

	private static Map<String, String> headers(WriteOptions options) {
		Map<String, String> headers = new LinkedHashMap<>();
		Condition condition = options.condition();
		if (condition != null) {
			headers.put(condition.header(), condition.text());
		}
		if (options.idempotencyKey() != null) {
			headers.put("Idempotency-Key", options.idempotencyKey());
		}
		if (options.consistency().isEventual()) {
			headers.put(CONSISTENCY, EVENTUAL);
		}
		return headers;
	}

	private static String entity(String key, @Nullable Level level) {
		String target = "/v0/entity?id=" + encodedKey(key);
		return (level != null) ? target + "&replicas=" + level : target;
	}

	/**
	 * A request of keys in their order.
	 * @param start the first key, in the place of that of the range; null for that
	 * @param limit the most keys; {@code Long.MAX_VALUE} for all
	 */
	static Request range(Range range, @Nullable String start, long limit, boolean withValues) {
		StringBuilder target = new StringBuilder("/v0/entities?values=").append(withValues);
		append(target, "prefix", range.prefix());
		append(target, "start", (start != null) ? start : range.start());
		append(target, "end", range.end());
		append(target, "separator", withValues ? null : range.separator());
		if (limit != Long.MAX_VALUE) {
			target.append("&limit=").append(limit);
		}
		return new Request(HttpMethod.GET, target.toString(), Map.of(HttpHeaders.ACCEPT, NDJSON), null);
	}

	private static void append(StringBuilder target, String name, @Nullable String value) {
		if (value != null) {
			bytes(value);
			target.append('&').append(name).append('=').append(URLEncoder.encode(value, StandardCharsets.UTF_8));
		}
	}

	/**
	 * Refuses what the nodes would, and half of a surrogate pair, which would become
	 * another key.
	 */
	private static String encodedKey(String key) {
		int bytes = bytes(key);
		if (bytes < 1 || bytes > MAX_KEY_BYTES) {
			throw new IllegalArgumentException(
					"a key has 1 to %d bytes in UTF-8, not %d".formatted(MAX_KEY_BYTES, bytes));
		}
		return URLEncoder.encode(key, StandardCharsets.UTF_8);
	}

	/**
	 * The length in UTF-8.
	 * @throws IllegalArgumentException if the text has half of a surrogate pair
	 */
	private static int bytes(String key) {
		try {
			ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(key));
			return bytes.remaining();
		}
		catch (CharacterCodingException ex) {
			throw new IllegalArgumentException("a key, or a part of one, is text that can be written in UTF-8", ex);
		}
	}

}
