package io.kvorum.node;

import io.kvorum.testing.ApiKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** Keys are asked for at a management port of its own, too. */
@NodeTest
@TestPropertySource(properties = { "management.server.port=0",
		"management.endpoints.web.exposure.include=health,prometheus,convergence",
		"management.endpoint.convergence.access=unrestricted" })
class AccessManagementPortTest {

	private final int managementPort;

	private final NodeClient stranger;

	private final NodeClient scraper;

	private final NodeClient data;

	private final int port;

	AccessManagementPortTest(@LocalServerPort int port, @LocalManagementPort int managementPort) {
		this.port = port;
		this.managementPort = managementPort;
		this.stranger = new NodeClient(managementPort);
		this.scraper = new NodeClient(managementPort, "scraper");
		this.data = new NodeClient(managementPort, "reports");
	}

	@DynamicPropertySource
	static void keys(DynamicPropertyRegistry properties) {
		properties.add("kvorum.access.keys-file",
				() -> ApiKeys.file(ApiKeys.entry("reports", AccessTest.REPORTS),
						ApiKeys.entry("scraper", "\"actuator\":[\"metrics\"]"),
						ApiKeys.entry("operator", "\"actuator\":[\"operate\"]")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/", "/actuator", "/actuator/prometheus", "/actuator/convergence", "/actuator/nothing",
			"/nothing", "/v0/entity?id=reports/a", "/v0/status", "/actuator/health/storage" })
	void strangersGetNothing(String path) throws Exception {
		assertThat(this.stranger.send("GET", path).statusCode()).isEqualTo(401);
		assertThat(this.stranger.send("POST", path).statusCode()).isEqualTo(401);
		assertThat(this.data.send("GET", path).statusCode()).isEqualTo(403);
		assertThat(this.data.send("POST", path).statusCode()).isEqualTo(403);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness",
			"/actuator/health/joined" })
	void probesNeedNoKey(String path) throws Exception {
		assertThat(this.stranger.send("GET", path).statusCode()).isEqualTo(200);
		assertThat(this.stranger.json(path).toString()).isEqualTo("{\"status\":\"UP\"}");
	}

	@Test
	void detailsAreForWhoMayReadMetrics() throws Exception {
		assertThat(this.scraper.json("/actuator/health").has("components")).isTrue();
	}

	@Test
	void whoHasTheRightIsLetIn() throws Exception {
		assertThat(this.scraper.send("GET", "/actuator/prometheus").statusCode()).isEqualTo(200);
		assertThat(this.scraper.send("POST", "/actuator/convergence").statusCode()).isEqualTo(403);
		assertThat(new NodeClient(this.managementPort, "operator").send("POST", "/actuator/convergence").statusCode())
			.isEqualTo(200);
	}

	@Test
	void entitiesStayAtTheirPort() throws Exception {
		NodeClient node = new NodeClient(this.port, "reports");
		assertThat(node.send("PUT", "/v0/entity?id=reports/a", new byte[1]).statusCode()).isEqualTo(201);
		assertThat(node.send("GET", "/actuator/health").statusCode()).as("no endpoint here").isEqualTo(404);
		assertThat(new NodeClient(this.port).send("GET", "/actuator/health").statusCode()).isEqualTo(401);
	}

}
