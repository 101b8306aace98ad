package io.kvorum.node;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import io.kvorum.access.AccessControl;
import io.kvorum.access.KeysFile;
import io.kvorum.testing.ApiKeys;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Somebody who has the key to one prefix, or none, tries to get at the rest: by raw
 * requests, as no client would send them.
 */
@NodeTest
@TestPropertySource(properties = { "management.endpoints.web.exposure.include=*",
		"management.endpoint.convergence.access=unrestricted", "logging.level.io.kvorum=debug" })
@ExtendWith(OutputCaptureExtension.class)
class AccessAttackTest {

	private static final String TREASURE = "treasure-of-others";

	private static final String THIEF = ApiKeys.entry("thief", """
			"rules":[{"prefix":"mine/","rights":["read","write","delete","range"]},
			{"prefix-base64":"/w==","rights":["read","write","delete","range"]}]""");

	private static final String OWNER = ApiKeys.entry("owner", """
			"rules":[{"prefix":"","rights":["read","write","delete","range"]}]""");

	private final int port;

	private final AccessControl control;

	private final NodeClient owner;

	AccessAttackTest(@LocalServerPort int port, @Autowired AccessControl control) throws Exception {
		this.port = port;
		this.control = control;
		this.owner = new NodeClient(port, "owner");
		assertThat(this.owner.send("PUT", "/v0/entity?id=vault/gold", TREASURE.getBytes(StandardCharsets.UTF_8))
			.statusCode()).isEqualTo(201);
	}

	@DynamicPropertySource
	static void keys(DynamicPropertyRegistry properties) {
		properties.add("kvorum.access.keys-file", () -> ApiKeys.file(THIEF, OWNER));
	}

	private Response send(String request) {
		try (RawHttp connection = RawHttp.connect(this.port)) {
			Response response = connection.send(request).read();
			assertThat(response).isNotNull();
			return Objects.requireNonNull(response);
		}
	}

	private Response thief(String method, String target, String... headers) {
		return send("%s %s HTTP/1.1\r\nHost: a\r\nAuthorization: %s\r\n%s\r\n".formatted(method, target,
				ApiKeys.bearer("thief"), (headers.length > 0) ? String.join("\r\n", headers) + "\r\n" : ""));
	}

	private void assertNothingWasTaken(Response response) throws Exception {
		assertThat(response.body()).doesNotContain(TREASURE);
		assertThat(this.owner.send("GET", "/v0/entity?id=vault/gold").body())
			.isEqualTo(TREASURE.getBytes(StandardCharsets.UTF_8));
	}

	@ParameterizedTest
	@ValueSource(strings = { "vault/gold", "%76ault/gold", "mine/../vault/gold", "mine/%2e%2e/vault/gold",
			"mine/%252e%252e/vault/gold", "mine/..%2fvault%2fgold", "mine%2f..%2f..%2fvault/gold",
			"mine/%C0%AE%C0%AE/vault/gold", "%E0%80%AFvault/gold", "mine/&id=vault/gold", "vault/gold&id=mine/a",
			"mine/a%26id=vault/gold", "mine/%00vault/gold", "vault/gold%00mine/", "+mine/", "%20mine/", "MINE/a",
			"%4dine/a", "mine%5ca", "mine", "%6dine%3a", "mine/;id=vault/gold", "mine/#vault/gold", "%u006dine/",
			"vault/gold?id=mine/a" })
	void noSpellingOfAnIdLeadsOutOfThePrefix(String id) throws Exception {
		for (String method : new String[] { "GET", "HEAD", "DELETE" }) {
			try (RawHttp connection = RawHttp.connect(this.port)) {
				connection.send("%s /v0/entity?id=%s HTTP/1.1\r\nHost: a\r\nAuthorization: %s\r\n\r\n".formatted(method,
						id, ApiKeys.bearer("thief")));
				Response answer = connection.readStatus();
				assertThat(answer.status()).as("%s %s", method, id).isIn(202, 400, 403, 404);
				if (!id.replace("%2f", "/").startsWith("mine/")) {
					assertThat(answer.status()).as("%s %s", method, id).isIn(400, 403);
				}
			}
		}
		assertNothingWasTaken(thief("GET", "/v0/entity?id=" + id));
	}

	@ParameterizedTest
	@ValueSource(strings = { "start=mine/", "start=vault/&end=vault0", "start=mine/&end=w", "start=mine/&end=mine1",
			"start=mine/&end=mine0%00", "start=mine/&end=%FF", "start=mine/&end=", "start=a&end=mine0",
			"start=mine&end=mine0", "start=mine.&end=mine0", "start=mine/&end=mine0&end=w",
			"start=mine/&start=a&end=mine0", "start=mine/&end=w&limit=1", "start=mine/&end=w&scope=node",
			"start=mine/&scope=node", "end=mine0", "start=mine/&End=mine0", "start=mine/&end=mine%C0%B0",
			"start=mine/&end=mine0&scope=cluster&scope=node" })
	void noRangeLeadsAcrossThePrefix(String query) throws Exception {
		Response answer = thief("GET", "/v0/entities?" + query);

		assertThat(answer.status()).isIn(400, 403);
		assertNothingWasTaken(answer);
		assertNothingWasTaken(thief("GET", "/v0/entities?" + query, "Accept: application/x-ndjson"));
	}

	/** Keys of the API are UTF-8, of which no byte is 0xFF: such a prefix holds none. */
	@Test
	void aPrefixWithoutASuccessorIsNotThatOfAll() throws Exception {
		assertThat(thief("GET", "/v0/entities?start=%FF").status()).isEqualTo(400);
		assertNothingWasTaken(thief("GET", "/v0/entities?start=%F4%8F%BF%BF"));
		assertThat(thief("GET", "/v0/entities?start=%F4%8F%BF%BF").status()).isEqualTo(403);
	}

	@Test
	void theRangeOfThePrefixIsWhole() {
		assertThat(thief("GET", "/v0/entities?start=mine/&end=mine0").status()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator", "/actuator/", "/actuator/prometheus", "/actuator/prometheus/",
			"/actuator/../actuator/prometheus", "/actuator/./prometheus", "//actuator/prometheus",
			"/actuator//prometheus", "/actuator;x/prometheus", "/actuator/prometheus;x=1", "/%61ctuator/prometheus",
			"/actuator%2fprometheus", "/actuator/%70rometheus", "/actuator/prometheus%00", "/v0/../actuator/prometheus",
			"/v0/status/../../actuator/prometheus", "/actuator/health/../prometheus",
			"/actuator/health/liveness/../../env", "/actuator/health;/../prometheus",
			"/actuator/health%2f..%2fprometheus", "/ACTUATOR/prometheus", "/actuator/Prometheus",
			"/actuator\\prometheus", "/v0/entity/../../actuator/prometheus", "/actuator/heapdump", "/actuator/env",
			"/actuator/threaddump", "/actuator/loggers", "/actuator/shutdown", "/actuator/convergence",
			"http://localhost/actuator/prometheus", "/actuator/prometheus?id=mine/a",
			"/actuator/prometheus#/v0/entity" })
	void noPathLeadsToAnEndpoint(String target) {
		for (String method : new String[] { "GET", "POST", "DELETE", "OPTIONS" }) {
			Response answer = thief(method, target);
			assertThat(answer.status()).as("%s %s", method, target).isIn(400, 403);
			assertThat(answer.body()).doesNotContain("jvm_", "propertySources", "converged");
			Response ofStranger = send("%s %s HTTP/1.1\r\nHost: a\r\n\r\n".formatted(method, target));
			assertThat(ofStranger.status()).as("%s %s", method, target).isIn(400, 401);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "X-HTTP-Method-Override: GET", "X-Original-URL: /actuator/health",
			"X-Rewrite-URL: /v0/status", "X-Forwarded-Prefix: /actuator", "X-Forwarded-For: 127.0.0.1",
			"X-Forwarded-Host: localhost", "Forwarded: for=127.0.0.1;host=localhost", "X-Real-IP: 127.0.0.1",
			"Origin: http://a\r\nAccess-Control-Request-Method: GET", "Connection: Authorization",
			"Connection: Upgrade\r\nUpgrade: h2c", "Cookie: SESSION=x" })
	void noHeaderStandsForARight(String headers) {
		assertThat(thief("POST", "/actuator/convergence", headers).status()).isEqualTo(403);
		assertThat(thief("GET", "/v0/entity?id=vault/gold", headers).status()).isEqualTo(403);
		assertThat(send("GET /v0/status HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n\r\n").status()).isEqualTo(401);
	}

	@Test
	void aPreflightCarriesNothingOut() {
		Response answer = thief("OPTIONS", "/actuator/convergence", "Origin: http://a",
				"Access-Control-Request-Method: POST");

		assertThat(answer.status()).isEqualTo(403);
		assertThat(answer.header("Access-Control-Allow-Origin")).isNull();
	}

	@Test
	void aRangeEndsWhenItsKeyIsTakenAway() throws Exception {
		for (int i = 0; i < 40; i++) {
			assertThat(this.owner.send("PUT", "/v0/entity?id=mine/long/" + i, new byte[250_000]).statusCode())
				.isEqualTo(201);
		}
		try (RawHttp connection = RawHttp.connect(this.port, 1 << 13)) {
			Response head = connection.send(
					"GET /v0/entities?start=mine/long/&end=mine/long0 HTTP/1.1\r\nHost: a\r\nAuthorization: %s\r\n\r\n"
						.formatted(ApiKeys.bearer("thief")))
				.readStatus();
			assertThat(head.status()).isEqualTo(200);
			this.control.use(KeysFile.read(ApiKeys.content(OWNER), 0));
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> connection.readBody(head));
		}
		finally {
			this.control.use(KeysFile.read(ApiKeys.content(THIEF, OWNER), 0));
		}
	}

	@Test
	void noHostIsReachedByARequest() throws Exception {
		try (NamedHost host = new NamedHost()) {
			String named = host.authority();
			for (String headers : new String[] { "Host: " + named, "Host: a\r\nKvorum-To: http://" + named,
					"Host: a\r\nKvorum-From: http://" + named, "Host: a\r\nX-Forwarded-Host: " + named,
					"Host: a\r\nForwarded: host=" + named, "Host: a\r\nReferer: http://" + named,
					"Host: a\r\nOrigin: http://" + named }) {
				Response answer = send("GET /v0/entity?id=vault/gold HTTP/1.1\r\n%s\r\nAuthorization: %s\r\n\r\n"
					.formatted(headers, ApiKeys.bearer("thief")));
				assertThat(answer.status()).as(headers).isEqualTo(403);
				assertThat(answer.headers()).doesNotContainKey("Location");
				assertThat(send("GET /v0/entity?id=vault/gold HTTP/1.1\r\n%s\r\nAuthorization: %s\r\n\r\n"
					.formatted(headers, ApiKeys.bearer("owner"))).status()).as(headers).isEqualTo(200);
			}
			for (String query : new String[] { "nodes=http://" + named, "node=http://" + named,
					"replicas=http://" + named + "/1", "from=http://" + named + "&ack=1" }) {
				int status = this.owner.send("GET", "/v0/entity?id=vault/gold&" + query).statusCode();
				assertThat(status).as("ignored, or no number").isIn(200, 400);
			}
			assertThat(send("CONNECT %s HTTP/1.1\r\nHost: a\r\n\r\n".formatted(named)).status()).isEqualTo(400);
			assertThat(send("GET http://%1$s/ HTTP/1.1\r\nHost: %1$s\r\n\r\n".formatted(named)).status())
				.isEqualTo(400);
			host.assertNobodyCame();
		}
	}

	@Test
	void nothingThatWasSentIsInALogLineOrAnAnswer(CapturedOutput output) {
		String forged = "2026-01-01 ERROR forged line";
		for (String header : new String[] { "Authorization: Bearer a\n" + forged, "Authorization: Bearer a\r" + forged,
				"Authorization: Bearer thief." + forged,
				"Authorization: Bearer " + forged + "." + ApiKeys.secret("thief"),
				"Content-Type: text/plain\n" + forged, "Authorization: \u0000" + forged, "X-A: \u001b[31m" + forged,
				"Authorization: Bearer ${jndi:ldap://" + forged + "}" }) {
			Response answer = send(
					"PUT /v0/entity?id=mine/a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n" + header + "\r\n\r\n");
			assertThat(answer.status()).isIn(400, 401);
			assertThat(answer.body() + answer.headers()).doesNotContain("forged");
		}
		Response answer = thief("GET", "/v0/entity?id=vault/%0d%0a" + "forged%20line");
		assertThat(answer.status()).isEqualTo(403);
		assertThat(answer.body() + answer.headers()).doesNotContain("forged");
		assertThat(output.getAll()).doesNotContain("forged").contains("Denied, ");
	}

	/** What a client has stored comes back as it was, and not as another header. */
	@Test
	void aContentTypeIsNoHeaderOfItsOwn() {
		assertThat(
				thief("PUT", "/v0/entity?id=mine/type", "Content-Length: 0", "Content-Type: a\rSet-Cookie: b").status())
			.isEqualTo(400);
		assertThat(thief("PUT", "/v0/entity?id=mine/type", "Content-Length: 0", "Content-Type: a%0d%0aSet-Cookie: b")
			.status()).isEqualTo(201);
		Response answer = thief("GET", "/v0/entity?id=mine/type");
		assertThat(answer.header("Set-Cookie")).isNull();
		assertThat(answer.header("Content-Type")).isEqualTo("a%0d%0aSet-Cookie: b");
	}

	@Test
	void anOversizedHeaderIsNoWork() {
		assertThat(send("GET /v0/status HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s.%s\r\n\r\n"
			.formatted("a".repeat(4000), ApiKeys.secret("a"))).status()).isEqualTo(401);
		assertThat(send(
				"GET /v0/status HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n".formatted("a".repeat(70_000)))
			.status()).isEqualTo(431);
	}

	@Test
	void aFloodOfStrangersIsCountedAndTwoLinesInTheLogAtMost(CapturedOutput output, @Autowired MeterRegistry meters) {
		Counter denied = meters.get("kvorum.access.denied").tag("reason", "wrong").counter();
		double before = denied.count();
		for (int i = 0; i < 300; i++) {
			send("GET /v0/status HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer nobody.%s\r\n\r\n"
				.formatted(ApiKeys.secret("x" + i)));
		}
		assertThat(denied.count()).isEqualTo(before + 300);
		assertThat(output.getAll().lines().filter(line -> line.contains("Denied, "))).hasSizeLessThanOrEqualTo(2);
	}

}
