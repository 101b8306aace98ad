package io.kvorum.wire;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;

/**
 * Reason for which the port refuses a request. The port answers such a request itself,
 * except that a broken chunk fails the reader of the body. The connection is closed
 * afterwards: what follows a malformed request cannot be told apart from its body.
 */
@SuppressWarnings("ImmutableEnumChecker") // the body is never written to
public enum Refusal {

	/** A broken request line, header line or chunk of a body. */
	MALFORMED(400, "malformed-request",
			"Send well-formed HTTP/1.1: one request line, header lines of the form 'name: value' that end in CRLF, "
					+ "and one Content-Length of decimal digits or well-formed chunks."),

	LINE_TOO_LONG(414, "request-line-too-long",
			"Send a shorter request line, of at most " + WireLimits.LINE_BYTES
					+ " bytes: a key has at most 1024 before percent-encoding."),

	HEADERS_TOO_LARGE(431, "headers-too-large",
			"Send fewer or shorter header lines, of at most " + WireLimits.HEADERS_BYTES + " bytes together."),

	HTTP_VERSION(400, "malformed-request", "Send the request as HTTP/1.1 or HTTP/1.0."),

	HOST_MISSING(400, "malformed-request", "Send one Host header: HTTP/1.1 requires it."),

	HOST_REPEATED(400, "malformed-request", "Send the Host header once."),

	HOST_INVALID(400, "malformed-request", "Send a Host header of the form 'host' or 'host:port'."),

	FOLDED_LINE(400, "malformed-request", "Send each header on one line: a line must not begin with a space or a tab."),

	TRANSFER_ENCODING(400, "malformed-request",
			"Send 'Transfer-Encoding: chunked', once and with no other coding, or a Content-Length."),

	LENGTH_AND_ENCODING(400, "malformed-request", "Send either Content-Length or Transfer-Encoding, not both."),

	CONTENT_LENGTH(400, "malformed-request", "Send one Content-Length, a number of at most 18 decimal digits."),

	OLD_WEB_SOCKET(400, "malformed-request",
			"Send no Sec-WebSocket-Key1: this is no WebSocket, and what follows might be taken for a body."),

	TARGET_FORM(400, "malformed-request",
			"Send the path and the query alone as the target of the request, as in 'GET /v0/status HTTP/1.1'."),

	TARGET_CHARACTERS(400, "malformed-request",
			"Percent-encode what a URI must not hold, and send '%' only before two hexadecimal digits."),

	PATH_SPELLING(400, "malformed-request",
			"Spell the path plainly: without path parameters (';'), percent-encoding, empty or dot segments."),

	EXPECTATION(417, "malformed-request", "Send no Expect header, or 'Expect: 100-continue'."),

	/**
	 * The headers of a request did not arrive within {@link WireLimits#headerTimeout()}.
	 */
	REQUEST_TIMEOUT(408, "request-timeout",
			"Send the request line and the headers at once, and the request again on a new connection.");

	private final HttpResponseStatus status;

	private final byte[] body;

	/** Renders the body once. No text here needs escaping in JSON. */
	Refusal(int status, String slug, String detail) {
		this.status = HttpResponseStatus.valueOf(status);
		this.body = """
				{"type":"urn:kvorum:problem:%s","title":"%s","status":%d,"detail":"%s"}"""
			.formatted(slug, this.status.reasonPhrase(), status, detail)
			.getBytes(StandardCharsets.UTF_8);
	}

	/** The last response of a connection: problem details (RFC 9457). */
	FullHttpResponse response() {
		FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, this.status,
				Unpooled.wrappedBuffer(this.body));
		response.headers()
			.set(HttpHeaderNames.CONTENT_TYPE, "application/problem+json")
			.setInt(HttpHeaderNames.CONTENT_LENGTH, this.body.length)
			.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
		return response;
	}

}
