package io.kvorum.node;

import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** A management port of its own: the endpoints are there, and entities are not. */
@NodeTest
@TestPropertySource(properties = "management.server.port=0")
class ManagementPortTest {

	private final NodeClient node;

	private final NodeClient management;

	ManagementPortTest(@LocalServerPort int port, @LocalManagementPort int managementPort) {
		this.node = new NodeClient(port);
		this.management = new NodeClient(managementPort);
	}

	@Test
	void noEntityIsWrittenOrReadThere() throws Exception {
		assertThat(this.management.send("GET", "/actuator/health").statusCode()).isEqualTo(200);
		assertThat(this.management.send("PUT", "/v0/entity?id=a", new byte[1]).statusCode())
			.isGreaterThanOrEqualTo(400);
		assertThat(this.node.send("GET", "/v0/entity?id=a").statusCode()).isEqualTo(404);
		assertThat(this.node.send("PUT", "/v0/entity?id=a", new byte[1]).statusCode()).isEqualTo(201);
		assertThat(this.management.send("GET", "/v0/entity?id=a").statusCode()).isGreaterThanOrEqualTo(400);
	}

}
