package io.kvorum.node;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** That keys and values of users are in no meter, health detail, problem or log line. */
@NodeTest
@TestPropertySource(properties = "logging.level.io.kvorum=debug")
@ExtendWith(OutputCaptureExtension.class)
class PrivacyTest {

	private static final String KEY = "ada-lovelace-1815";

	private static final String VALUE = "analytical-engine-1843";

	private final NodeClient node;

	PrivacyTest(@LocalServerPort int port) {
		this.node = new NodeClient(port);
	}

	@Test
	void keysAndValuesAreNowhereButInTheStore(CapturedOutput output) throws Exception {
		use();
		assertPrivate(text("/actuator/prometheus"));
		assertPrivate(text("/actuator/health"));
		assertPrivate(text("/actuator/info"));
		for (JsonNode name : this.node.json("/actuator/metrics").get("names")) {
			assertPrivate(text("/actuator/metrics/" + name.asString()));
		}
		assertThat(output.getAll()).contains("Ready");
		assertPrivate(output.getAll());
	}

	/** Requests of every kind that has an outcome of its own. */
	private void use() throws Exception {
		byte[] value = VALUE.getBytes(StandardCharsets.UTF_8);
		String entity = "/v0/entity?id=" + KEY;
		assertThat(this.node.send("PUT", entity, value).statusCode()).isEqualTo(201);
		assertThat(text(entity)).isEqualTo(VALUE);
		this.node.send("HEAD", entity);
		for (String refused : new String[] { entity + "&ttl=" + VALUE, entity + "&replicas=" + VALUE,
				entity + "&id=" + KEY, entity + "%ff", "/v0/entity?id=%C0" + KEY, "/v0/" + KEY, "/" + KEY }) {
			HttpResponse<byte[]> response = this.node.send("PUT", refused, value);
			assertThat(response.statusCode()).isEqualTo(400);
			assertPrivate(new String(response.body(), StandardCharsets.UTF_8));
		}
		assertThat(this.node.send("POST", entity, value).statusCode()).isEqualTo(405);
		assertThat(this.node.send("PUT", entity, new byte[1 << 20]).statusCode()).isEqualTo(413);
		assertThat(this.node.send("DELETE", entity).statusCode()).isEqualTo(202);
		assertThat(this.node.send("GET", entity).statusCode()).isEqualTo(404);
	}

	private String text(String path) throws Exception {
		return new String(this.node.send("GET", path).body(), StandardCharsets.UTF_8);
	}

	private static void assertPrivate(String text) {
		assertThat(text).doesNotContainIgnoringCase(KEY).doesNotContainIgnoringCase(VALUE);
	}

}
