package io.kvorum.testing;

import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** What a node answered. */
public final class Answer {

	private static final JsonMapper JSON = new JsonMapper();

	private final int status;

	private final HttpHeaders headers;

	private final byte[] body;

	Answer(int status, HttpHeaders headers, byte[] body) {
		this.status = status;
		this.headers = headers;
		this.body = body;
	}

	public int status() {
		return this.status;
	}

	public byte[] body() {
		return this.body;
	}

	/** The value of a header; empty where there is none. */
	public String header(String name) {
		return this.headers.firstValue(name).orElse("");
	}

	public String text() {
		return new String(this.body, StandardCharsets.UTF_8);
	}

	/** The members of the JSON body: a problem, a status, a health. */
	public Map<String, Object> json() {
		return JSON.readValue(this.body, new TypeReference<Map<String, Object>>() {
		});
	}

	@Override
	public String toString() {
		boolean isText = !header("Content-Type").equals("application/octet-stream");
		return this.status + " " + this.headers.map() + " " + (isText ? text() : this.body.length + " bytes");
	}

}
