package io.kvorum.gatling;

import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.http.HttpRequestActionBuilder;

import static io.gatling.javaapi.core.CoreDsl.ByteArrayBody;
import static io.gatling.javaapi.core.CoreDsl.bodyBytes;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

/**
 * Requests for the user's {@code key}, with the checks that belong to them. The names are
 * those of the rows in the report.
 */
final class Entities {

	static final String PATH = "/v0/entity";

	private final Settings settings;

	private final Values values;

	private final String url;

	/** Sends a user's requests to the node that is its turn. */
	Entities(Settings settings) {
		this(settings, PATH);
	}

	private Entities(Settings settings, String url) {
		this.settings = settings;
		this.values = new Values(settings);
		this.url = url;
	}

	/** Sends them to the node whose address the user has under this name. */
	Entities at(String attribute) {
		return new Entities(this.settings, "#{" + attribute + "}" + PATH);
	}

	/** Writes the user's {@code generation}. */
	HttpRequestActionBuilder put(String name) {
		return withKey(http(name).put(this.url))
			.body(ByteArrayBody(session -> this.values.of(session.getString("key"), session.getLong("generation"))))
			.check(statusOf(201));
	}

	/** Reads any value that was ever written for the key. */
	HttpRequestActionBuilder get(String name) {
		return withKey(http(name).get(this.url)).check(statusOf(200))
			.checkIf((response, session) -> response.status().code() == 200)
			.then(bodyBytes().validate("a value of the key",
					(found, session) -> this.values.check(session.getString("key"), found)));
	}

	/** Reads the user's {@code generation}. */
	HttpRequestActionBuilder getWritten(String name) {
		return getWritten(name, statusOf(200));
	}

	/** Reads the user's {@code generation}, where there is something to read. */
	HttpRequestActionBuilder getWritten(String name, CheckBuilder statusCheck) {
		return withKey(http(name).get(this.url)).check(statusCheck)
			.checkIf((response, session) -> response.status().code() == 200)
			.then(bodyBytes().validate("the value that was written", (found, session) -> this.values
				.check(session.getString("key"), session.getLong("generation"), found)));
	}

	HttpRequestActionBuilder getAbsent(String name) {
		return withKey(http(name).get(this.url)).check(statusOf(404));
	}

	HttpRequestActionBuilder delete(String name) {
		return withKey(http(name).delete(this.url)).check(statusOf(202));
	}

	static CheckBuilder statusOf(int expected) {
		return status().validate(String.valueOf(expected), (found, _) -> Answers.status(expected, found));
	}

	private HttpRequestActionBuilder withKey(HttpRequestActionBuilder request) {
		HttpRequestActionBuilder withKey = request.queryParam("id", "#{key}");
		return this.settings.replicas()
			.map(replicas -> withKey.queryParam("replicas", replicas.toString()))
			.orElse(withKey);
	}

}
