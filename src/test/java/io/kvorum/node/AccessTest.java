package io.kvorum.node;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

import io.kvorum.testing.ApiKeys;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;
import org.springframework.web.server.WebFilter;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A node that lets in who has a key; entities take the short way. */
@NodeTest
@TestPropertySource(properties = { "management.endpoints.web.exposure.include=*",
		"management.endpoint.convergence.access=unrestricted", "kvorum.cluster.secret=a-secret-of-the-cluster",
		"logging.level.io.kvorum=debug", "spring.main.cloud-platform=kubernetes" })
@ExtendWith(OutputCaptureExtension.class)
class AccessTest {

	static final String REPORTS = """
			"rules":[{"prefix":"reports/","rights":["read","write","delete","range"]}]""";

	private final int port;

	private final NodeClient stranger;

	private final NodeClient reports;

	private final NodeClient scraper;

	private final NodeClient operator;

	private final NodeClient all;

	AccessTest(@LocalServerPort int port) {
		this.port = port;
		this.stranger = new NodeClient(port);
		this.reports = new NodeClient(port, "reports");
		this.scraper = new NodeClient(port, "scraper");
		this.operator = new NodeClient(port, "operator");
		this.all = new NodeClient(port, "all");
	}

	@DynamicPropertySource
	static void keys(DynamicPropertyRegistry properties) {
		properties.add("kvorum.access.keys-file",
				() -> ApiKeys.file(ApiKeys.entry("reports", REPORTS),
						ApiKeys.entry("scraper", "\"actuator\":[\"metrics\"]"),
						ApiKeys.entry("operator", "\"actuator\":[\"operate\"]"), ApiKeys.entry("all",
								"\"rules\":[{\"prefix\":\"\",\"rights\":[\"read\",\"write\",\"delete\",\"range\"]}]")));
	}

	@Test
	void noFilterKeepsEntitiesFromTheShortWay(@Autowired ObjectProvider<WebFilter> filters) {
		assertThat(filters.stream().count()).isEqualTo(filtersExpected());
	}

	int filtersExpected() {
		return 0;
	}

	@Test
	void anEntityIsForWhoHasTheRightToIt() throws Exception {
		assertThat(this.reports.send("PUT", "/v0/entity?id=reports/a", new byte[1]).statusCode()).isEqualTo(201);
		assertThat(this.reports.send("GET", "/v0/entity?id=reports/a").statusCode()).isEqualTo(200);
		assertThat(this.reports.send("GET", "/v0/entity?id=other").statusCode()).isEqualTo(403);
		assertThat(this.stranger.send("GET", "/v0/entity?id=reports/a").statusCode()).isEqualTo(401);
	}

	@ParameterizedTest
	@CsvSource({ "start=reports/&end=reports0, 200", "start=reports/b&end=reports/c, 200",
			"start=reports/&end=reports/%F4%8F%BF%BF, 200", "start=reports/, 403", "start=reports/&end=reports00, 403",
			"start=reports/&end=reports1, 403", "start=reports&end=reports0, 403", "start=a&end=z, 403",
			"start=reports.&end=reports0, 403", "start=%72eports/&end=reports%30, 200",
			"start=reports/&start=reports/&end=reports0, 400", "start=reports/&end=reports0&end=z, 400",
			"start=reports/&end=reports0&scope=node, 200", "start=a&end=z&scope=node, 403", "prefix=reports/, 200",
			"prefix=reports/a&values=false, 200", "prefix=reports/&separator=/, 200",
			"prefix=reports/&start=a&end=z, 200", "prefix=reports, 403", "prefix=, 403", "values=false, 403",
			"separator=/, 403", "prefix=other/, 403", "prefix=%F4%8F%BF%BF, 403", "end=reports0&values=false, 403" })
	void aRangeLiesInsideThePrefix(String query, int status) throws Exception {
		assertThat(this.reports.send("GET", "/v0/entities?" + query).statusCode()).isEqualTo(status);
		assertThat(this.stranger.send("GET", "/v0/entities?" + query).statusCode()).isEqualTo(401);
	}

	@Test
	void onlyAKeyForAllIdsListsThemAll() throws Exception {
		assertThat(this.all.send("GET", "/v0/entities?start=a").statusCode()).isEqualTo(200);
		assertThat(new String(this.reports.send("GET", "/v0/entities?start=reports/").body(), StandardCharsets.UTF_8))
			.contains("urn:kvorum:problem:forbidden", "'end' is required")
			.doesNotContain("reports");
	}

	/**
	 * Which Spring Boot would on Kubernetes; there, this would be refused as malformed.
	 */
	@Test
	void whatIsForwardedIsNotBelieved() {
		try (RawHttp client = RawHttp.connect(this.port)) {
			client.send("GET /v0/status HTTP/1.1\r\nHost: a\r\nX-Forwarded-Port: nonsense\r\n\r\n");
			assertThat(client.read()).extracting(Response::status).isEqualTo(401);
		}
	}

	@Test
	void theStatusIsForWhoeverHasAKey() throws Exception {
		assertThat(this.stranger.send("GET", "/v0/status").statusCode()).isEqualTo(401);
		assertThat(this.scraper.send("GET", "/v0/status").statusCode()).isEqualTo(200);
		assertThat(this.stranger.send("GET", "/v0/openapi.yaml").statusCode()).isEqualTo(401);
		assertThat(this.reports.send("GET", "/v0/openapi.yaml").statusCode()).isEqualTo(200);
	}

	@Test
	void byDefaultThereIsNoConsoleBesideKeys() throws Exception {
		assertThat(this.stranger.send("GET", "/console").statusCode()).isEqualTo(401);
		assertThat(this.reports.send("GET", "/console").statusCode()).isEqualTo(400);
	}

	@Test
	void theClusterIsShownToThoseWhoMayReadMeters() throws Exception {
		assertThat(this.stranger.send("GET", "/v0/cluster").statusCode()).isEqualTo(401);
		assertThat(this.reports.send("GET", "/v0/cluster").statusCode()).isEqualTo(403);
		assertThat(this.scraper.send("GET", "/v0/cluster").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/", "/v0", "/v0/entity/", "/v0/nothing", "/actuatorx", "/actuator", "/actuator/nothing",
			"/actuator/env", "/actuator/prometheus", "/actuator/health/storage", "/actuator/health/nothing",
			"/actuator/health/", "/actuator/metrics", "/actuator/heapdump", "/favicon.ico", "/livez" })
	void strangersDoNotFindOutWhatThereIs(String path) throws Exception {
		for (String method : new String[] { "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS" }) {
			assertThat(this.stranger.send(method, path).statusCode()).as(method).isEqualTo(401);
		}
	}

	/** It reads all of it, and holds up other work on backups. */
	@Test
	void theCheckOfABackupIsForOperatorsAndTheListForWhoReadsMetrics() throws Exception {
		assertThat(this.scraper.send("GET", "/actuator/backup").statusCode()).as("none are configured").isEqualTo(409);
		for (String path : new String[] { "/actuator/backup/one", "/actuator/backup/A", "/actuator/backup/one/x" }) {
			for (String method : new String[] { "GET", "HEAD" }) {
				assertThat(this.scraper.send(method, path).statusCode()).as(path).isEqualTo(403);
			}
		}
		assertThat(this.operator.send("GET", "/actuator/backup").statusCode()).isEqualTo(403);
		assertThat(this.operator.send("GET", "/actuator/backup/one").statusCode()).isEqualTo(409);
	}

	private Response raw(String method, String target, String headers) {
		try (RawHttp connection = RawHttp.connect(this.port)) {
			Response response = connection
				.send("%s %s HTTP/1.1\r\nHost: a\r\n%s\r\n".formatted(method, target, headers))
				.read();
			return Objects.requireNonNull(response);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v0/entity", "/v0/entity?id=reports/a", "/v0/entities?start=reports/", "/v0/status",
			"/v0/nothing", "/actuator", "/actuator/health", "/actuator/prometheus", "/actuator/nothing" })
	void aPreflightOfAStrangerIsRefusedAsAnyOtherRequest(String target) {
		Response preflight = raw("OPTIONS", target, "Origin: http://b\r\nAccess-Control-Request-Method: GET\r\n");
		Response other = raw("POST", target, "Content-Length: 0\r\n");

		assertThat(preflight.status()).isEqualTo(401);
		assertThat(preflight.headers()).isEqualTo(other.headers());
		assertThat(preflight.body()).isEqualTo(other.body());
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v0/entity", "/v0/entity?id=reports/a", "/v0/entities?start=reports/&end=reports0" })
	void whereTheTimeGoesIsForThoseWhoAreLetIn(String target) {
		String asked = "Kvorum-Timing: 1\r\n";
		assertThat(raw("GET", target, asked).headers()).doesNotContainKey("Server-Timing");
		assertThat(raw("GET", target, asked + "Authorization: " + ApiKeys.bearer("reports") + "\r\n").headers())
			.containsKey("Server-Timing");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness",
			"/actuator/health/joined" })
	void healthIsToldToEverybodyByOneWord(String path) throws Exception {
		for (NodeClient client : new NodeClient[] { this.stranger, this.reports }) {
			assertThat(client.send("GET", path).statusCode()).isEqualTo(200);
			assertThat(client.json(path).toString()).isEqualTo("{\"status\":\"UP\"}");
			assertThat(client.send("HEAD", path).statusCode()).isEqualTo(200);
		}
		assertThat(this.stranger.send("POST", path).statusCode()).isEqualTo(401);
		assertThat(new NodeClient(this.port, "unknown").send("GET", path).statusCode()).isEqualTo(401);
	}

	@Test
	void detailsOfHealthAreForWhoMayReadMetrics() throws Exception {
		JsonNode health = this.scraper.json("/actuator/health");

		assertThat(health.at("/components/storage/details/writes").asString()).isEqualTo("accepted");
		assertThat(health.at("/components/access/details/keys").asInt()).isEqualTo(4);
	}

	@Test
	void endpointsAreReadByOneRightAndUsedByTheOther() throws Exception {
		assertThat(this.scraper.send("GET", "/actuator/prometheus").statusCode()).isEqualTo(200);
		assertThat(this.scraper.send("GET", "/actuator/convergence").statusCode()).isEqualTo(200);
		assertThat(this.scraper.send("POST", "/actuator/convergence").statusCode()).isEqualTo(403);
		assertThat(this.operator.send("POST", "/actuator/convergence").statusCode()).isEqualTo(200);
		assertThat(this.operator.send("GET", "/actuator/convergence").statusCode()).isEqualTo(403);
		assertThat(this.all.send("GET", "/actuator/convergence").statusCode()).isEqualTo(403);
		assertThat(this.all.send("POST", "/actuator/convergence").statusCode()).isEqualTo(403);
	}

	@Test
	void aPathThatIsNotThereIsToldToWhoeverHasAKey() throws Exception {
		assertThat(this.reports.send("GET", "/v0/nothing").statusCode()).isEqualTo(400);
		assertThat(this.scraper.send("GET", "/actuator/nothing").statusCode()).isEqualTo(404);
	}

	@Test
	void whatIsDeniedIsCountedByItsReason() throws Exception {
		this.stranger.send("GET", "/v0/status");
		this.reports.send("GET", "/v0/entity?id=other");

		String meters = new String(this.scraper.send("GET", "/actuator/prometheus").body(), StandardCharsets.UTF_8);
		assertThat(meters).containsPattern("kvorum_access_denied_total\\{reason=\"missing\"\\} [1-9]")
			.containsPattern("kvorum_access_denied_total\\{reason=\"entity\"\\} [1-9]")
			.contains("kvorum_access_keys 4.0", "kvorum_access_stale_seconds 0.0");
	}

	@Test
	void secretsAreInNoEndpointAndNoLogLine(CapturedOutput output) throws Exception {
		String secret = ApiKeys.secret("reports");
		new NodeClient(this.port, "stolen-id").send("GET", "/v0/entity?id=reports/a");
		this.reports.send("GET", "/v0/entity?id=other");
		for (String endpoint : new String[] { "env", "configprops", "prometheus", "health", "info", "beans",
				"conditions", "mappings", "loggers", "threaddump", "env/kvorum.access.keys-file",
				"env/kvorum.cluster.secret" }) {
			String text = new String(this.scraper.send("GET", "/actuator/" + endpoint).body(), StandardCharsets.UTF_8);
			assertThat(text).as(endpoint)
				.isNotEmpty()
				.doesNotContain(secret, ApiKeys.secret("scraper"), "a-secret-of-the-cluster");
		}
		assertThat(output.getAll()).doesNotContain(secret, ApiKeys.secret("stolen-id"), "stolen-id",
				"a-secret-of-the-cluster", "reports/");
	}

	/** Its own rule in Spring Boot, which a default for all endpoints replaces. */
	@Test
	void theHeapIsNotThereThoughAllEndpointsAreExposed() throws Exception {
		assertThat(this.scraper.send("GET", "/actuator/threaddump").statusCode()).isEqualTo(200);
		assertThat(this.scraper.send("GET", "/actuator/heapdump").statusCode()).isEqualTo(404);
	}

	@Test
	void aStartWithoutEncryptionIsWarnedOf(CapturedOutput output) {
		assertThat(output.getAll()).contains("Access by API keys only: 4 are in use",
				"API keys cross the network in the clear");
	}

}
