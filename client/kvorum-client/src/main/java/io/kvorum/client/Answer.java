package io.kvorum.client;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/** What a node has answered. */
final class Answer {

	private final Node node;

	private final int status;

	private final HttpHeaders headers;

	private final byte[] body;

	Answer(Node node, int status, HttpHeaders headers, byte[] body) {
		this.node = node;
		this.status = status;
		this.headers = headers;
		this.body = body;
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
		String etag = header(HttpHeaders.ETAG);
		return (etag != null) ? Version.orNull(etag) : null;
	}

	String contentType() {
		String contentType = header(HttpHeaders.CONTENT_TYPE);
		return (contentType != null) ? contentType : Codec.bytes().contentType();
	}

	/** The instant in a header; null if it is not there, or no date. */
	@Nullable Instant instant(String name) {
		String text = header(name);
		try {
			return (text != null) ? ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant() : null;
		}
		catch (DateTimeException ex) {
			return null;
		}
	}

}
