package io.kvorum.node;

import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
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

	private final int managementPort;

	ManagementPortTest(@LocalServerPort int port, @LocalManagementPort int managementPort) {
		this.node = new NodeClient(port);
		this.management = new NodeClient(managementPort);
		this.managementPort = managementPort;
	}

	@Test
	void noEntityIsWrittenOrReadThere() throws Exception {
		assertThat(this.management.send("GET", "/actuator/health").statusCode()).isEqualTo(200);
		assertThat(this.management.send("PUT", "/v0/entity?id=a", new byte[1]).statusCode()).isEqualTo(404);
		assertThat(this.node.send("GET", "/v0/entity?id=a").statusCode()).isEqualTo(404);
		assertThat(this.node.send("PUT", "/v0/entity?id=a", new byte[1]).statusCode()).isEqualTo(201);
		assertThat(this.management.send("GET", "/v0/entity?id=a").statusCode()).isEqualTo(404);
	}

	/** Health is answered by another thread than reads the next request. */
	@Test
	void aConnectionIsReadOnHoweverManyRequestsCameBeforeTheirTurn() {
		String health = "GET /actuator/health HTTP/1.1\r\nHost: a\r\n\r\n";
		int together = 16;
		try (RawHttp connection = RawHttp.connect(this.managementPort)) {
			for (int i = 0; i < 4 * together; i++) {
				if (i % together == 0) {
					connection.send(health.repeat(together));
				}
				assertThat(connection.read()).isNotNull().extracting(Response::status).isEqualTo(200);
			}
		}
	}

	@Test
	void whatNeitherKnowsIsAnsweredByEachInItsOwnWay() throws Exception {
		assertThat(this.management.send("GET", "/nothing").statusCode()).isEqualTo(404);
		assertThat(this.management.send("GET", "/actuator/nothing").statusCode()).isEqualTo(404);
		assertThat(this.node.send("GET", "/nothing").statusCode()).isEqualTo(400);
		assertThat(this.node.send("GET", "/actuator/health").statusCode()).isEqualTo(404);
	}

}
