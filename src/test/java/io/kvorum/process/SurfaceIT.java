package io.kvorum.process;

import java.util.Arrays;

import io.kvorum.testing.Answer;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.SharedNode;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

@ExtendWith(SharedNode.class)
@DisplayName("What a node shows, and nothing else")
class SurfaceIT {

	@ParameterizedTest
	@ValueSource(strings = { "POST", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get" })
	@DisplayName("a method that entities do not have: 405, and Allow says which they have")
	void otherMethods(String method, KvorumClient client) {
		Answer answer = client.exchange(method, "/v0/entity?id=method");

		assertThat(answer.status()).isEqualTo(405);
		assertThat(Arrays.stream(answer.header("Allow").split(",", -1)).map(String::strip))
			.containsExactlyInAnyOrder("GET", "HEAD", "PUT", "DELETE");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/", "/v0", "/v0/", "/v0/entity/", "/v0/entity/a", "/v0/entityx?id=a", "/v0/Entity?id=a",
			"/v1/entity?id=a", "/entity?id=a", "/v0//entity?id=a", "//v0/entity?id=a", "/v0/entity/?id=a",
			"/favicon.ico", "/index.html", "/error", "/v0/status/x", "/actuatorx" })
	@DisplayName("a path that does not exist: 400, since 404 means \"no such entity\"")
	void otherPaths(String path, KvorumClient client) {
		EntityApiIT.assertProblem(client.exchange("GET", path), 400);
		assertThat(client.exchange("PUT", path).status()).isEqualTo(400);
		assertThat(client.exchange("HEAD", path).status()).isEqualTo(400);
	}

	@Test
	@DisplayName("/v0/status: 200 and a JSON object that says who this is")
	void status(KvorumClient client) {
		Answer answer = client.exchange("GET", "/v0/status");

		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.header("Content-Type")).startsWith("application/json");
		assertThat(answer.json()).containsKeys("node", "version", "topology");
	}

	@Test
	@DisplayName("health, liveness and readiness: UP")
	void health(KvorumClient client) {
		for (String group : new String[] { "", "/liveness", "/readiness" }) {
			Answer answer = client.exchange("GET", "/actuator/health" + group);
			assertThat(answer.status()).isEqualTo(200);
			assertThat(answer.json()).containsEntry("status", "UP");
		}
	}

	@Test
	@DisplayName("metrics and prometheus are there, and listed")
	void exposedEndpoints(KvorumClient client) {
		assertThat(client.exchange("GET", "/actuator/metrics").status()).isEqualTo(200);
		assertThat(client.exchange("GET", "/actuator/prometheus").status()).isEqualTo(200);
		assertThat(client.exchange("GET", "/actuator").text()).contains("/actuator/prometheus");
	}

	@ParameterizedTest
	@ValueSource(strings = { "env", "beans", "configprops", "heapdump", "threaddump", "loggers", "mappings", "shutdown",
			"scheduledtasks", "conditions", "sbom", "nonsense", "metrics/no.such.metric" })
	@DisplayName("any other actuator endpoint: the actuator's own 404")
	void otherActuatorEndpoints(String endpoint, KvorumClient client) {
		assertThat(client.exchange("GET", "/actuator/" + endpoint).status()).isEqualTo(404);
	}

	@Test
	@DisplayName("info says which build this is")
	void info(KvorumClient client) {
		assertThat(client.exchange("GET", "/actuator/info").json()).extractingByKey("build", MAP)
			.containsEntry("artifact", "kvorum")
			.containsKey("version");
	}

	@Test
	@DisplayName("prometheus counts corruption from the start, and names no key or value")
	void prometheus(KvorumClient client) {
		client.put("a-very-secret-key", "a-very-secret-value");
		client.get("a-very-secret-key");

		String samples = client.exchange("GET", "/actuator/prometheus").text();
		assertThat(samples).contains("kvorum_storage_corruption_total", "jvm_memory_used_bytes");
		assertThat(samples).doesNotContain("a-very-secret");
	}

}
