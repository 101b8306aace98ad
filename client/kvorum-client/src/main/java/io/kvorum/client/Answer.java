package io.kvorum.client;

import java.time.Instant;
import java.util.Date;

import io.netty.handler.codec.DateFormatter;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/** What a node has answered. */
final class Answer {

	private final Node node;

	private final int status;

	private final HttpHeaders headers;

	private final byte[] body;

	private final @Nullable Version version;

	Answer(Node node, int status, HttpHeaders headers, byte[] body) {
		this.node = node;
		this.status = status;
		this.headers = headers;
		this.body = body;
		String etag = headers.getETag();
		this.version = (etag != null) ? Version.orNull(etag) : null;
	}

	Node node() {
		return this.node;
	}

	int status() {
		return this.status;
	}

	byte[] body() {
		return this.body;
	}

	/** The text of a header; null if it is not there. */
	@Nullable String header(String name) {
		return this.headers.getFirst(name);
	}

	/** The version of the value; null if the answer has none. */
	@Nullable Version version() {
		return this.version;
	}

	String contentType() {
		String contentType = header(HttpHeaders.CONTENT_TYPE);
		return (contentType != null) ? contentType : Codec.bytes().contentType();
	}

	/** The instant in a header; null if it is not there, or no date. */
	@Nullable Instant instant(String name) {
		String text = header(name);
		Date date = (text != null) ? DateFormatter.parseHttpDate(text) : null;
		return (date != null) ? date.toInstant() : null;
	}

}
