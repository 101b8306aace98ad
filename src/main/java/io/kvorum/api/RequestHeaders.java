package io.kvorum.api;

import io.kvorum.access.ApiKey;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.wire.HttpExchange;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Reads the headers that change what a request means: they are honoured or refused. Only
 * those that RFC 9110 allows a server to ignore are ignored. A header that is absent
 * costs one look into a hash table.
 * <p>
 * Ignored are {@code Range} and {@code If-Range} (section 14.2), and {@code
 * If-Modified-Since} (section 13.1.3). A GET then answers in full. Dates have whole
 * seconds, so a 304 by date could hide the second of two writes. For the same reason
 * {@code If-Unmodified-Since} is refused, except beside {@code If-Match}, which replaces
 * it (section 13.1.4).
 */
final class RequestHeaders {

	private static final AsciiString IDEMPOTENCY_KEY = AsciiString.cached("Idempotency-Key");

	private static final String IF_MATCH = "If-Match";

	private static final String IF_NONE_MATCH = "If-None-Match";

	private RequestHeaders() {
	}

	/**
	 * Returns the condition of a GET or a HEAD of an entity, without its If-None-Match.
	 * @throws ProblemException if the request cannot be done as its headers demand
	 */
	static Condition readCondition(HttpExchange exchange) {
		Tags match = match(exchange);
		return (match != null) ? new Condition(match, null) : Condition.NONE;
	}

	/**
	 * Returns the condition of a PUT or a DELETE.
	 * @throws ProblemException if the request cannot be done as its headers demand
	 */
	static Condition writeCondition(HttpExchange exchange) {
		Tags match = match(exchange);
		Tags noneMatch = noneMatch(exchange);
		return (match != null || noneMatch != null) ? new Condition(match, noneMatch) : Condition.NONE;
	}

	/**
	 * Returns the idempotency key of a PUT or a DELETE; null if there is none. The value
	 * of the header is taken as it is, with quotes if it has any.
	 * @throws ProblemException if it has another form
	 */
	static @Nullable IdempotencyKey idempotencyKey(HttpExchange exchange, ApiKey caller) {
		String name = exchange.header(IDEMPOTENCY_KEY);
		if (name == null) {
			return null;
		}
		if (exchange.headers(IDEMPOTENCY_KEY).size() > 1) {
			throw badIdempotencyKey("it is there more than once");
		}
		try {
			return new IdempotencyKey(caller.id(), name);
		}
		catch (IllegalArgumentException ex) {
			throw badIdempotencyKey(String.valueOf(ex.getMessage()));
		}
	}

	private static ProblemException badIdempotencyKey(String why) {
		return ProblemException.badRequest(ProblemType.BAD_IDEMPOTENCY_KEY,
				"The header Idempotency-Key cannot be used: %s. Nothing was done.".formatted(why));
	}

	/**
	 * Checks the headers of a GET of a range, which has no ETag.
	 * @throws ProblemException if one of them is a condition
	 */
	static void checkRange(HttpExchange exchange) {
		if (exchange.header(HttpHeaderNames.IF_MATCH) != null) {
			throw new ProblemException(Problem.unsupportedHeader(IF_MATCH));
		}
		if (exchange.header(HttpHeaderNames.IF_UNMODIFIED_SINCE) != null) {
			throw new ProblemException(Problem.CONDITION_BY_DATE);
		}
	}

	private static @Nullable Tags match(HttpExchange exchange) {
		if (exchange.header(HttpHeaderNames.IF_MATCH) != null) {
			return EntityTags.strong(IF_MATCH, exchange.headers(HttpHeaderNames.IF_MATCH));
		}
		if (exchange.header(HttpHeaderNames.IF_UNMODIFIED_SINCE) != null) {
			throw new ProblemException(Problem.CONDITION_BY_DATE);
		}
		return null;
	}

	private static @Nullable Tags noneMatch(HttpExchange exchange) {
		return (exchange.header(HttpHeaderNames.IF_NONE_MATCH) != null)
				? EntityTags.weak(IF_NONE_MATCH, exchange.headers(HttpHeaderNames.IF_NONE_MATCH)) : null;
	}

	/**
	 * Checks the headers of a PUT that describe its body.
	 * @throws ProblemException if it is compressed, or a part of a value
	 */
	static void checkBody(HttpExchange exchange) {
		if (exchange.header(HttpHeaderNames.CONTENT_RANGE) != null) {
			throw ProblemException.badRequest(ProblemType.CONTENT_RANGE,
					"A PUT stores a whole value, and Content-Range says that this is a part of one (RFC 9110, section 14.5). "
							+ "Send the whole value, without this header.");
		}
		if (exchange.header(HttpHeaderNames.CONTENT_ENCODING) == null) {
			return;
		}
		for (String codings : exchange.headers(HttpHeaderNames.CONTENT_ENCODING)) {
			for (String coding : codings.split(",", -1)) {
				if (!coding.isBlank() && !HttpHeaderValues.IDENTITY.contentEqualsIgnoreCase(coding.strip())) {
					throw new ProblemException(Problem.CODED_VALUE);
				}
			}
		}
	}

	/**
	 * Whether the client has this value already, according to If-None-Match. A header
	 * that cannot be read names no value: the answer in full is right for every client.
	 */
	static boolean isKnown(HttpExchange exchange, Version identity) {
		try {
			Tags tags = noneMatch(exchange);
			return tags != null && !new Condition(null, tags).holdsFor(identity);
		}
		catch (ProblemException malformed) {
			return false;
		}
	}

}
