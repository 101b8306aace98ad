package io.kvorum.api;

import io.kvorum.wire.HttpExchange;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.util.AsciiString;

/**
 * Checks the headers that change what a request means: they are honoured or refused. Only
 * those that RFC 9110 allows a server to ignore are ignored. A header that is absent
 * costs one look into a hash table.
 * <p>
 * Ignored are {@code Range} and {@code If-Range} (section 14.2), and {@code
 * If-Modified-Since} (section 13.1.3). A GET then answers in full. Dates have whole
 * seconds, so a 304 by date could hide the second of two writes.
 */
final class RequestHeaders {

	private static final AsciiString IDEMPOTENCY_KEY = AsciiString.cached("Idempotency-Key");

	private static final AsciiString[] UNSUPPORTED_BY_READS = { HttpHeaderNames.IF_MATCH,
			HttpHeaderNames.IF_UNMODIFIED_SINCE };

	private static final AsciiString[] UNSUPPORTED_BY_WRITES = { HttpHeaderNames.IF_MATCH,
			HttpHeaderNames.IF_NONE_MATCH, HttpHeaderNames.IF_UNMODIFIED_SINCE, IDEMPOTENCY_KEY };

	private static final String ANY = "*";

	private RequestHeaders() {
	}

	/**
	 * Checks the headers of a GET or a HEAD.
	 * @throws ProblemException if one of them is a condition that reads do not evaluate
	 */
	static void checkRead(HttpExchange exchange) {
		refuse(exchange, UNSUPPORTED_BY_READS);
	}

	/**
	 * Checks the headers of a PUT or a DELETE.
	 * @throws ProblemException if one of them is a condition or an idempotency key
	 */
	static void checkWrite(HttpExchange exchange) {
		refuse(exchange, UNSUPPORTED_BY_WRITES);
	}

	/**
	 * Checks the headers of a PUT that describe its body.
	 * @throws ProblemException if it is compressed, or a part of a value
	 */
	static void checkBody(HttpExchange exchange) {
		if (exchange.header(HttpHeaderNames.CONTENT_RANGE) != null) {
			throw ProblemException.badRequest("content-range",
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
	 * Whether the client has the entity already, according to If-None-Match.
	 * @param etag the tag of the entity with its quotes, so that no part of another tag
	 * matches
	 */
	static boolean isKnown(HttpExchange exchange, String etag) {
		if (exchange.header(HttpHeaderNames.IF_NONE_MATCH) == null) {
			return false;
		}
		return exchange.headers(HttpHeaderNames.IF_NONE_MATCH)
			.stream()
			.anyMatch(tags -> tags.contains(etag) || tags.strip().equals(ANY));
	}

	private static void refuse(HttpExchange exchange, AsciiString[] names) {
		for (AsciiString name : names) {
			if (exchange.header(name) != null) {
				throw new ProblemException(Problem.unsupportedHeader(name));
			}
		}
	}

}
