package io.kvorum.node;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.kvorum.testing.Generator;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The paths that a request for a range can take through a node, under BlockHound: none of
 * them blocks an event loop. Each test has keys of its own.
 */
@NodeTest
@ExtendWith(OutputCaptureExtension.class)
class RangeEndpointTest {

	private static final int LARGE_BYTES = 200_000;

	private final int port;

	private final NodeClient node;

	private final MeterRegistry meters;

	RangeEndpointTest(@LocalServerPort int port, @Autowired MeterRegistry meters) {
		this.port = port;
		this.node = new NodeClient(port);
		this.meters = meters;
	}

	private void put(String id, String value) throws Exception {
		assertThat(this.node.send("PUT", "/v0/entity?id=" + id, value.getBytes(StandardCharsets.UTF_8)).statusCode())
			.isEqualTo(201);
	}

	private static String get(String query, String... headers) {
		return "GET /v0/entities?" + query + " HTTP/1.1\r\nHost: a\r\n" + String.join("", headers) + "\r\n";
	}

	private Response range(String query, String... headers) {
		try (RawHttp client = RawHttp.connect(this.port)) {
			return read(client.send(get(query, headers)));
		}
	}

	private static Response read(RawHttp client) {
		Response response = client.read();
		if (response == null) {
			throw new AssertionError("there is no response");
		}
		return response;
	}

	private List<JsonNode> lines(String query) {
		Response response = range(query, "Accept: application/x-ndjson\r\n");
		assertThat(response.status()).isEqualTo(200);
		assertThat(response.header("content-type")).isEqualTo("application/x-ndjson");
		return response.body().lines().map(JsonMapper.shared()::readTree).toList();
	}

	@Test
	void theEntriesOfARangeComeInTheOrderOfTheirKeysWithoutItsEnd() throws Exception {
		put("order-c", "three");
		put("order-a", "one");
		put("order-b", "two");
		put("order-d", "four");
		Response response = range("start=order-a&end=order-d");

		assertThat(response.status()).isEqualTo(200);
		assertThat(response.header("transfer-encoding")).isEqualTo("chunked");
		assertThat(response.header("content-type")).isEqualTo("application/octet-stream");
		assertThat(response.body()).isEqualTo("order-a\none" + "order-b\ntwo" + "order-c\nthree");
	}

	@Test
	void whatWasDeletedIsNotInItAndWhatExpiresLaterIs() throws Exception {
		put("gone-a", "deleted");
		put("gone-b", "stays");
		put("gone-c&ttl=7d", "stays for long");
		assertThat(this.node.send("DELETE", "/v0/entity?id=gone-a").statusCode()).isEqualTo(202);

		assertThat(range("start=gone-&end=gone-z").body()).isEqualTo("gone-b\nstays" + "gone-c\nstays for long");
	}

	@Test
	void asLinesOfJsonTheLastOneSaysThatTheAnswerIsWhole() throws Exception {
		put("lines-a", "one");
		put("lines-b", "two");
		HttpResponse<byte[]> found = this.node.send("GET", "/v0/entity?id=lines-a");
		List<JsonNode> lines = lines("start=lines-a&end=lines-z");

		assertThat(lines).extracting(line -> line.path("id").asString("")).containsExactly("lines-a", "lines-b", "");
		assertThat(lines.getFirst().get("value").binaryValue()).asString().isEqualTo("one");
		assertThat(found.headers().firstValue("ETag")).hasValue('"' + lines.getFirst().get("version").asString() + '"');
		assertThat(lines.getLast()).hasToString("{\"end\":true,\"count\":2}");
	}

	@Test
	void withALimitTheLastLineSaysWhereToGoOn() throws Exception {
		for (int i = 0; i < 5; i++) {
			put("limit-" + i, "value");
		}

		assertThat(lines("start=limit-&end=limit-z&limit=3").getLast())
			.hasToString("{\"end\":true,\"count\":3,\"next\":\"limit-3\"}");
		assertThat(lines("start=limit-3&end=limit-z&limit=2").getLast()).hasToString("{\"end\":true,\"count\":2}");
		assertThat(range("start=limit-&end=limit-z&limit=1").body()).isEqualTo("limit-0\nvalue");
	}

	@ParameterizedTest
	@ValueSource(strings = { "start=nothing-&end=nothing-z", "start=same&end=same", "start=zzz&scope=node" })
	void aRangeWithoutEntriesIsAnAnswerWithoutABody(String query) {
		Response response = range(query);

		assertThat(response.status()).isEqualTo(200);
		assertThat(response.body()).isEmpty();
		assertThat(lines(query)).singleElement().hasToString("{\"end\":true,\"count\":0}");
	}

	@Test
	void aRangeOfTheNodeIsWhatItHoldsItself() throws Exception {
		put("scope-a", "one");

		assertThat(range("start=scope-&end=scope-z&scope=node").body()).isEqualTo("scope-a\none");
		assertThat(
				this.meters.get("kvorum.range.requests").tags("scope", "node", "outcome", "complete").timer().count())
			.isPositive();
	}

	@Test
	void largeAndSmallValuesFromMemoryAndDiskAreToldByteForByte() throws Exception {
		StringBuilder expected = new StringBuilder();
		for (int i = 0; i < 60; i++) {
			byte[] value = new Generator(i).bytes((i % 2 == 0) ? LARGE_BYTES : i);
			String id = "size-%02d".formatted(i);
			assertThat(this.node.send("PUT", "/v0/entity?id=" + id, value).statusCode()).isEqualTo(201);
			expected.append(id).append('\n').append(new String(value, StandardCharsets.ISO_8859_1));
		}

		assertThat(range("start=size-&end=size-z").body().equals(expected.toString())).as("the same bytes").isTrue();
	}

	@Test
	void afterARangeTheConnectionServesTheNextRequest() throws Exception {
		put("alive-a", "one");
		try (RawHttp client = RawHttp.connect(this.port)) {
			for (int i = 0; i < 3; i++) {
				assertThat(read(client.send(get("start=alive-&end=alive-z"))).body()).isEqualTo("alive-a\none");
				assertThat(read(client.send("GET /v0/entity?id=alive-a HTTP/1.1\r\nHost: a\r\n\r\n")).body())
					.isEqualTo("one");
				assertThat(read(client.send(get("start="))).status()).isEqualTo(400);
				assertThat(read(client.send(get("start=nothing-&end=nothing-z"))).body()).isEmpty();
			}
			client.send(get("start=alive-&end=alive-z") + get("start=alive-a&limit=1"));
			assertThat(read(client).body()).as("pipelined").isEqualTo("alive-a\none");
			assertThat(read(client).body()).isEqualTo("alive-a\none");
		}
		assertThat(this.meters.get("kvorum.range.active").gauge().value()).isZero();
	}

	@Test
	void whatIsWrongIsAnsweredWithAProblem(CapturedOutput output) throws Exception {
		for (String query : List.of("", "?", "?start=", "?start=b&end=a", "?start=a&limit=0", "?start=a&scope=x",
				"?start=%FF")) {
			assertProblem(this.node.send("GET", "/v0/entities" + query), 400);
		}
		for (String method : List.of("PUT", "POST", "DELETE")) {
			HttpResponse<byte[]> refused = this.node.send(method, "/v0/entities?start=a");
			assertProblem(refused, 405);
			assertThat(refused.headers().firstValue("Allow")).hasValue("GET");
		}
		assertThat(this.node.send("HEAD", "/v0/entities?start=a").statusCode()).isEqualTo(405);
		assertThat(range("start=a", "Accept: text/html\r\n").status()).isEqualTo(406);
		assertThat(range("start=a", "Accept: text/html\r\n").header("content-type"))
			.isEqualTo("application/problem+json");
		assertThat(range("start=a", "Accept: nonsense\r\n").status()).isEqualTo(400);
		assertProblem(this.node.send("GET", "/v0/entities/?start=a"), 400);
		assertThat(output.getAll()).doesNotContain("ERROR");
	}

	@ParameterizedTest
	@CsvSource({ "/v0/entity, 405, 'GET, HEAD, PUT, DELETE'", "/v0/entity?id=a, 405, 'GET, HEAD, PUT, DELETE'",
			"/v0/entities?start=a, 405, GET", "/v0/nothing, 400," })
	void aPreflightIsARequestLikeAnyOther(String target, int status, @Nullable String allowed) {
		try (RawHttp client = RawHttp.connect(this.port)) {
			Response answer = read(client.send("OPTIONS " + target
					+ " HTTP/1.1\r\nHost: a\r\nOrigin: http://b\r\nAccess-Control-Request-Method: GET\r\n\r\n"));
			assertThat(answer.status()).isEqualTo(status);
			assertThat(answer.header("Allow")).isEqualTo(allowed);
			assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
			assertThat(answer.headers().keySet()).noneMatch(name -> name.startsWith("Access-Control"));
			assertThat(read(client.send(get("start=nothing-&end=nothing-z"))).status()).isEqualTo(200);
		}
	}

	private static void assertProblem(HttpResponse<byte[]> response, int status) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
	}

}
