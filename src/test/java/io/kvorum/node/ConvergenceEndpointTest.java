package io.kvorum.node;

import java.net.http.HttpResponse;

import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** That convergence can be exposed, in the way that the document about meters says. */
@NodeTest
@TestPropertySource(properties = { "management.endpoints.web.exposure.include=health,convergence",
		"management.endpoint.convergence.access=unrestricted" })
class ConvergenceEndpointTest {

	private final NodeClient node;

	ConvergenceEndpointTest(@LocalServerPort int port) {
		this.node = new NodeClient(port);
	}

	@Test
	void aNodeAloneHasConverged() throws Exception {
		assertAlone(this.node.json("/actuator/convergence"));
	}

	@Test
	void repairsAreRequestedByAPostWithoutABody() throws Exception {
		HttpResponse<byte[]> answer = this.node.send("POST", "/actuator/convergence");

		assertThat(answer.statusCode()).isEqualTo(200);
		assertAlone(JsonMapper.shared().readTree(answer.body()));
	}

	@Test
	void itIsAPartOfHealth() throws Exception {
		JsonNode health = this.node.json("/actuator/health");

		assertThat(health.at("/components/convergence/status").asString()).isEqualTo("UP");
		assertThat(health.at("/components/convergence/details/membership").asString()).isEqualTo("alone");
	}

	private static void assertAlone(JsonNode state) {
		assertThat(state.get("converged").asBoolean()).isTrue();
		assertThat(state.at("/membership/state").asString()).isEqualTo("alone");
		assertThat(state.get("membership").propertyNames()).as("what is null is left out")
			.containsExactly("state", "partsToDo", "partsDone");
	}

}
