package io.kvorum.node;

import java.net.http.HttpResponse;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.WebEndpointsSupplier;
import org.springframework.boot.test.web.server.LocalServerPort;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** What a node tells those who run it, and that it tells nothing else. */
@NodeTest
class ActuatorTest {

	private final NodeClient node;

	ActuatorTest(@LocalServerPort int port) {
		this.node = new NodeClient(port);
	}

	@Test
	void fourEndpointsAreExposedAndNoOther(@Autowired WebEndpointsSupplier endpoints) {
		assertThat(endpoints.getEndpoints()).extracting(endpoint -> endpoint.getEndpointId())
			.containsExactlyInAnyOrderElementsOf(
					List.of("health", "info", "metrics", "prometheus").stream().map(EndpointId::of).toList());
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness",
			"/actuator/health/joined", "/actuator/info", "/actuator/metrics", "/actuator/metrics/kvorum.clock.drift",
			"/actuator/prometheus" })
	void theyAnswer(String path) throws Exception {
		assertThat(this.node.send("GET", path).statusCode()).isEqualTo(200);
	}

	@Test
	void theyAreListed() throws Exception {
		assertThat(this.node.json("/actuator").path("_links").propertyNames()).containsExactlyInAnyOrder("self",
				"health", "health-path", "info", "metrics", "metrics-requiredMetricName", "prometheus");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator/env", "/actuator/beans", "/actuator/configprops", "/actuator/convergence",
			"/actuator/heapdump", "/actuator/loggers", "/actuator/sbom", "/actuator/threaddump" })
	void theOthersAreNotThere(String path) throws Exception {
		assertThat(this.node.send("GET", path).statusCode()).isEqualTo(404);
	}

	@Test
	void aNodeAloneIsItsCluster() throws Exception {
		JsonNode cluster = this.node.json("/v0/cluster");
		assertThat(cluster.path("nodes")).hasSize(1);
		assertThat(cluster.path("unreachable")).isEmpty();
		JsonNode node = cluster.at("/nodes/0");
		assertThat(node.path("state").asString()).isEqualTo("member");
		assertThat(node.path("freeBytes").asLong()).isPositive();
		assertThat(node.propertyNames()).contains("version", "keys", "requests", "operations", "hints", "converged");
	}

	@Test
	void withoutKeysThereIsAConsole() throws Exception {
		assertThat(this.node.send("GET", "/console").body()).asString().contains("<title>Kvorum</title>");
	}

	@Test
	void aValueThatABrowserOpensRunsNoScripts() throws Exception {
		String etag = this.node.send("PUT", "/v0/entity?id=page", new byte[1])
			.headers()
			.firstValue("etag")
			.orElseThrow();
		assertThat(this.node.get("/v0/entity?id=page", "text/html,*/*;q=0.8").headers().map())
			.containsEntry("content-security-policy", List.of("sandbox"))
			.containsEntry("x-content-type-options", List.of("nosniff"));
		assertThat(this.node.get("/v0/entity?id=page", "*/*").headers().map())
			.doesNotContainKey("content-security-policy");
		assertThat(this.node.get("/v0/entity?id=page", "*/*", "User-Agent", "Mozilla/5.0 (X11)").headers().map())
			.as("in a page of another one")
			.containsEntry("content-security-policy", List.of("sandbox"));
		HttpResponse<byte[]> revalidated = this.node.get("/v0/entity?id=page", "text/html", "If-None-Match", etag);
		assertThat(revalidated.statusCode()).isEqualTo(304);
		assertThat(revalidated.headers().map()).as("of a cached answer")
			.containsEntry("content-security-policy", List.of("sandbox"));
	}

	@Test
	void theApiIsDescribed() throws Exception {
		HttpResponse<byte[]> description = this.node.send("GET", "/v0/openapi.yaml");
		assertThat(description.headers().firstValue("Content-Type")).contains("application/yaml");
		assertThat(description.body()).asString().startsWith("openapi: 3.1");
	}

	@Test
	void nothingCanBeStoppedFromOutside() throws Exception {
		assertThat(this.node.send("POST", "/actuator/shutdown").statusCode()).isEqualTo(404);
	}

	@Test
	void readinessIsThatTheStoreTakesWrites() throws Exception {
		JsonNode readiness = this.node.json("/actuator/health/readiness");
		assertThat(readiness.get("components").propertyNames()).containsExactlyInAnyOrder("readinessState", "storage",
				"cluster");
		assertThat(readiness.at("/components/storage/details/writes").asString()).isEqualTo("accepted");
	}

	@Test
	void aNodeAloneHasNobodyToJoin() throws Exception {
		JsonNode joined = this.node.json("/actuator/health/joined");
		assertThat(joined.get("components").propertyNames()).containsExactlyInAnyOrder("readinessState", "storage",
				"cluster", "convergence");
		assertThat(joined.at("/components/convergence/details/joined").asBoolean()).isTrue();
	}

	@Test
	void livenessDoesNotDependOnTheStore() throws Exception {
		JsonNode liveness = this.node.json("/actuator/health/liveness");
		assertThat(liveness.get("status").asString()).isEqualTo("UP");
		assertThat(liveness.toString()).doesNotContain("storage");
	}

	@Test
	void infoTellsWhatRuns() throws Exception {
		JsonNode info = this.node.json("/actuator/info");
		assertThat(info.at("/build/artifact").asString()).isEqualTo("kvorum");
		assertThat(info.at("/build/version").asString()).isNotBlank();
		assertThat(info.at("/java/version").asString()).isNotBlank();
		if (getClass().getResource("/git.properties") != null) {
			assertThat(info.at("/git/commit/id").asString()).isNotBlank();
		}
	}

}
