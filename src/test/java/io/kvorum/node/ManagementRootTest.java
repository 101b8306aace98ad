package io.kvorum.node;

import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** The endpoints are at the root of a management port. */
@NodeTest
@TestPropertySource(properties = { "management.server.port=0", "management.endpoints.web.base-path=/" })
class ManagementRootTest {

	private final NodeClient node;

	private final NodeClient management;

	ManagementRootTest(@LocalServerPort int port, @LocalManagementPort int managementPort) {
		this.node = new NodeClient(port);
		this.management = new NodeClient(managementPort);
	}

	/** There 404 means that there is no such entity. */
	@Test
	void atThePortOfTheApiUnknownPathsStayBadRequests() throws Exception {
		assertThat(this.node.send("GET", "/nothing").statusCode()).isEqualTo(400);
		assertThat(this.node.send("GET", "/health").statusCode()).isEqualTo(400);
		assertThat(this.node.send("GET", "/v0/entity?id=a").statusCode()).isEqualTo(404);
		assertThat(this.management.send("GET", "/health").statusCode()).isEqualTo(200);
		assertThat(this.management.send("GET", "/nothing").statusCode()).isEqualTo(404);
	}

}
