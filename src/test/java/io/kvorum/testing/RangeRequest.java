package io.kvorum.testing;

import java.net.URLEncoder;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A request for a range.
 *
 * @param target its path and query
 * @param accept the format that is asked for; empty where none is
 */
public record RangeRequest(String target, String accept) {

	/** What {@link #lines()} ask for. */
	public static final String NDJSON = "application/x-ndjson";

	/** Of a reader that is to feel it when it does not read. */
	private static final int SMALL_RECEIVE_BUFFER_BYTES = 128 << 10;

	/** In the chunk format, of the cluster. */
	public static RangeRequest from(String start) {
		return new RangeRequest("/v0/entities?start=" + URLEncoder.encode(start, UTF_8), "");
	}

	/** All keys that begin with this and a slash. */
	public static RangeRequest below(String name) {
		return from(name + "/").to(name + "0");
	}

	public RangeRequest to(String end) {
		return with("end=" + URLEncoder.encode(end, UTF_8));
	}

	public RangeRequest limit(int limit) {
		return with("limit=" + limit);
	}

	/** What the node holds itself. */
	public RangeRequest atNode() {
		return with("scope=node");
	}

	/** With a parameter more, as it is to be sent. */
	public RangeRequest with(String parameter) {
		return new RangeRequest(this.target + "&" + parameter, this.accept);
	}

	/** In lines of JSON. */
	public RangeRequest lines() {
		return accepting(NDJSON);
	}

	public RangeRequest accepting(String format) {
		return new RangeRequest(this.target, format);
	}

	/** All that comes, on a connection of its own. */
	public RangeAnswer read(int port) {
		try (RangeReader reader = open(port)) {
			return reader.rest();
		}
	}

	/** All that comes, on a connection that can be used again if the answer is whole. */
	public RangeAnswer read(RawHttp connection) {
		return RangeReader.on(connection, this).rest();
	}

	/**
	 * Begins, on a connection of its own that keeps little of what has not been read.
	 */
	public RangeReader open(int port) {
		return RangeReader.on(RawHttp.connect(port, SMALL_RECEIVE_BUFFER_BYTES), this);
	}

	String head() {
		String accepting = this.accept.isEmpty() ? "" : "Accept: " + this.accept + "\r\n";
		return "GET " + this.target + " HTTP/1.1\r\nHost: localhost\r\n" + accepting + "\r\n";
	}

}
