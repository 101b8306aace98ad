package io.kvorum.api;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.kvorum.access.AccessControl;
import io.kvorum.access.KeysFile;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Value;
import io.kvorum.operation.OperationObserver;
import io.kvorum.testing.ApiKeys;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Entities behind keys, straight from their connections. */
class AccessGateTests {

	private static final String RIGHTS = "\"rules\":[{\"prefix\":\"a/\",\"rights\":[\"%s\"]}]";

	private final SteeredTime time = new SteeredTime();

	private final AccessControl control = AccessControl.by(
			KeysFile.read(
					ApiKeys.content(ApiKeys.entry("read", RIGHTS.formatted("read")),
							ApiKeys.entry("write", RIGHTS.formatted("write")),
							ApiKeys.entry("delete", RIGHTS.formatted("delete")),
							ApiKeys.entry("range", RIGHTS.formatted("range")),
							ApiKeys.entry("slow",
									RIGHTS.formatted("write") + ",\"rate\":{\"per-second\":1,\"burst\":2}")),
					this.time.nanos()),
			this.time);

	private final EntityServer node = new EntityServer(this.control, this.time);

	private final RawHttp connection = this.node.connect();

	@AfterEach
	void close() {
		this.connection.close();
		this.node.close();
	}

	private static String request(String method, String id, String headers, String body) {
		return "%s /v0/entity?id=%s HTTP/1.1\r\nHost: a\r\n%s%s\r\n%s".formatted(method, id, headers,
				body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n", body);
	}

	private static String by(String key) {
		return "Authorization: " + ApiKeys.bearer(key) + "\r\n";
	}

	private Response answer(String request) {
		List<Response> answers = this.connection.exchange(request);
		assertThat(answers).hasSize(1);
		return answers.getFirst();
	}

	@ParameterizedTest
	@CsvSource({ "read, GET, 404", "read, HEAD, 404", "read, PUT, 403", "read, DELETE, 403", "write, PUT, 201",
			"write, GET, 403", "write, HEAD, 403", "write, DELETE, 403", "delete, DELETE, 202", "delete, PUT, 403",
			"delete, GET, 403", "range, GET, 403", "range, PUT, 403", "range, DELETE, 403", "read, POST, 405" })
	void eachMethodNeedsItsRight(String key, String method, int status) {
		String request = request(method, "a/b", by(key), method.equals("PUT") ? "value" : "");
		this.connection.send(request);
		Response head = this.connection.readStatus();

		assertThat(head.status()).isEqualTo(status);
	}

	@ParameterizedTest
	@ValueSource(strings = { "b", "a", "A/b", "a%2", "%61", "a%00/b", "%c3%a1/", "a%5cb", "%2e%2e/a/b", "%2561/b",
			"a%252fb", "+a/b", "%20a/b", "a+/b", "/a/b", "a%EF%BC%8Fb" })
	void anIdThatDoesNotBeginWithThePrefixOnceItIsDecodedIsNotStored(String id) {
		int status = answer(request("PUT", id, by("write"), "value")).status();

		assertThat(status).isIn(400, 403);
		assertThat(this.node.storage.isEmpty()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "a/b", "%61/b", "%61%2fb", "a%2Fb", "a%2fb", "a/%2e%2e/b", "a/%252e", "a/+b", "a/%00" })
	void anIdThatBeginsWithThePrefixIsStoredHoweverItIsSpelled(String id) {
		assertThat(answer(request("PUT", id, by("write"), "value")).status()).isEqualTo(201);
	}

	@ParameterizedTest
	@ValueSource(strings = { "a/b&id=b", "b&id=a/b", "a/b&id=a/b", "%C0%AFa/b", "a/%C0%AF", "a/%ed%a0%80",
			"a/%e2%28%a1", "a%", "a/%f", "a/%xx" })
	void anIdWithTwoReadingsIsNone(String id) {
		assertThat(answer(request("PUT", id, by("write"), "value")).status()).isEqualTo(400);
		assertThat(this.node.storage.isEmpty()).isTrue();
	}

	@Test
	void strangersAreToldOneThingWhateverTheyTry() {
		Response first = answer(request("GET", "a/b", "", ""));
		assertThat(first.status()).isEqualTo(401);
		assertThat(first.header("WWW-Authenticate")).isEqualTo("Bearer realm=\"kvorum\"");
		assertThat(first.header("Content-Type")).isEqualTo("application/problem+json");
		assertThat(first.body()).contains("urn:kvorum:problem:unauthorized");
		for (String header : List.of("Authorization: Basic YTpi\r\n",
				"Authorization: Bearer nobody." + ApiKeys.secret("a"),
				"Authorization: Bearer read." + ApiKeys.secret("write"), "Authorization:", by("read") + by("read"),
				"Proxy-Authorization: " + ApiKeys.bearer("read"))) {
			String lines = header.endsWith("\r\n") ? header : header + "\r\n";
			for (String method : List.of("GET", "PUT", "DELETE", "POST")) {
				Response other = answer(request(method, "b", lines, ""));
				assertThat(other.status()).isEqualTo(401);
				assertThat(other.body()).isEqualTo(first.body());
			}
		}
	}

	@Test
	void strangersAreNotFollowed() {
		String wanted = "Kvorum-Timing: 1\r\ntraceparent: 00-4bf92f3577b34da60000000000000001-00f067aa0ba902b7-01\r\n";
		assertThat(answer(request("GET", "a/b", wanted, "")).headers()).doesNotContainKey("Server-Timing");
		assertThat(answer(request("GET", "a/b", wanted + "Authorization: Bearer nobody\r\n", "")).headers())
			.doesNotContainKey("Server-Timing");
		assertThat(this.node.followed).isEmpty();

		assertThat(answer(request("GET", "a/b", wanted + by("read"), "")).headers()).containsKey("Server-Timing");
		assertThat(this.node.followed).containsExactly("GET");
	}

	@Test
	void whatIsWrongWithARequestIsNotToldToStrangers() {
		assertThat(answer(request("GET", "a&id=a", "", "")).status()).isEqualTo(401);
		assertThat(answer(request("GET", "a&replicas=9/9", "", "")).status()).isEqualTo(401);
		assertThat(answer(request("BREW", "a", "", "")).status()).isEqualTo(401);
	}

	@Test
	void aBodyThatIsRefusedBeforeItIsReadIsNoRequest() {
		String smuggled = request("PUT", "a/smuggled", by("write"), "x");
		assertThat(answer(request("PUT", "b", by("write"), smuggled)).status()).isEqualTo(403);
		assertThat(answer(request("PUT", "a/c", "", smuggled)).status()).isEqualTo(401);
		assertThat(answer(request("GET", "a/c", by("read"), "")).status()).as("the connection goes on").isEqualTo(404);
		assertThat(this.node.holds(Generator.key("a/smuggled"))).isFalse();
	}

	@Test
	void behindABodyInChunksThatIsRefusedNothingIsARequest() {
		String smuggled = request("PUT", "a/smuggled", by("write"), "x");
		String chunks = "%x\r\n%s\r\n".formatted(smuggled.length(), smuggled);
		this.connection.send("PUT /v0/entity?id=b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n" + by("write")
				+ "\r\n" + chunks);

		assertThat(this.connection.readUntilClosed()).extracting(Response::status).containsExactly(403);
		assertThat(this.node.holds(Generator.key("a/smuggled"))).isFalse();
	}

	@Test
	void aLargeBodyOfAStrangerIsNotWaitedFor() {
		this.connection.send("PUT /v0/entity?id=a/b HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");

		assertThat(this.connection.readUntilClosed()).extracting(Response::status).containsExactly(401);
	}

	@Test
	void aStrangerIsNotAskedToGoOn() {
		this.connection
			.send("PUT /v0/entity?id=a/b HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");

		Response answer = this.connection.read();
		assertThat(answer).isNotNull().extracting(Response::status).isEqualTo(401);
	}

	@Test
	void aRateIsToldUsedUpAndComesBack() {
		String put = request("PUT", "a/b", by("slow"), "value");
		Response first = answer(put);
		assertThat(first.status()).isEqualTo(201);
		assertThat(first.header("RateLimit-Policy")).isEqualTo("\"key\";q=2;w=2");
		assertThat(first.header("RateLimit")).isEqualTo("\"key\";r=1;t=1");
		assertThat(answer(put).header("RateLimit")).isEqualTo("\"key\";r=0;t=2");

		Response refused = answer(put);
		assertThat(refused.status()).isEqualTo(429);
		assertThat(refused.header("Retry-After")).isEqualTo("1");
		assertThat(refused.header("RateLimit")).isEqualTo("\"key\";r=0;t=1");
		assertThat(refused.body()).contains("urn:kvorum:problem:too-many-requests", "not-applied");
		this.time.pass(Duration.ofSeconds(1));
		assertThat(answer(put).status()).isEqualTo(201);
	}

	@Test
	void aRateIsToldWhereThereIsNoRoomForTheAnswerToo() {
		AccessControl rated = AccessControl.by(KeysFile.read(
				ApiKeys.content(
						ApiKeys.entry("slow", RIGHTS.formatted("read") + ",\"rate\":{\"per-second\":1,\"burst\":2}")),
				this.time.nanos()), this.time);
		try (EntityServer full = new EntityServer(rated, this.time, 1); RawHttp client = full.connect()) {
			Awaited.of(full.coordinator.put(Generator.key("a/b"), new Replicas(1, 1), "text/plain",
					Value.of(new byte[20_000]), null, OperationObserver.NONE));
			Response answer = Objects.requireNonNull(client.send(request("GET", "a/b", by("slow"), "")).read());

			assertThat(answer.status()).isEqualTo(503);
			assertThat(answer.header("RateLimit")).isEqualTo("\"key\";r=1;t=1");
			assertThat(answer.header("RateLimit-Policy")).isEqualTo("\"key\";q=2;w=2");
			assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
			assertThat(answer.headers()).doesNotContainKeys("ETag", "Last-Modified", "Kvorum-Consistency");
		}
	}

	@Test
	void whatAKeyMayNotDoCostsItARequest() {
		assertThat(answer(request("GET", "a/b", by("slow"), "")).status()).isEqualTo(403);
		assertThat(answer(request("PUT", "b&id=c", by("slow"), "")).status()).isEqualTo(400);
		assertThat(answer(request("PUT", "a/b", by("slow"), "value")).status()).isEqualTo(429);
	}

	@Test
	void whatStrangersTryUsesUpNobodysRate() {
		String wrong = "Authorization: Bearer slow." + ApiKeys.secret("read") + "\r\n";
		for (int i = 0; i < 10; i++) {
			assertThat(answer(request("PUT", "a/b", wrong, "value")).status()).isEqualTo(401);
		}
		assertThat(answer(request("PUT", "a/b", by("slow"), "value")).status()).isEqualTo(201);
	}

	@Test
	void aKeyThatIsTakenAwayIsTakenFromConnectionsThatAreOpen() {
		assertThat(answer(request("GET", "a/b", by("read"), "")).status()).isEqualTo(404);
		this.control
			.use(KeysFile.read(ApiKeys.content(ApiKeys.entry("other", RIGHTS.formatted("read"))), this.time.nanos()));

		assertThat(answer(request("GET", "a/b", by("read"), "")).status()).isEqualTo(401);
	}

}
