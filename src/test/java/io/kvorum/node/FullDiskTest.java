package io.kvorum.node;

import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A node whose disk has less space than it is to leave free. */
@NodeTest
@TestPropertySource(properties = "kvorum.storage.min-free-space=100TB")
class FullDiskTest {

	private final NodeClient node;

	FullDiskTest(@LocalServerPort int port) {
		this.node = new NodeClient(port);
	}

	@Test
	void healthTellsThatWritesAreRefusedAndIsNoWriteItself(@Autowired MeterRegistry meters) throws Exception {
		assertThat(this.node.send("PUT", "/v0/entity?id=key", new byte[1]).statusCode()).isEqualTo(507);
		double refused = meters.get("kvorum.storage.no.space").counter().count();

		JsonNode storage = this.node.json("/actuator/health").at("/components/storage");
		assertThat(storage.path("status").asString()).isEqualTo("UP");
		assertThat(storage.at("/details/writes").asString()).contains("kvorum.storage.min-free-space");
		assertThat(meters.get("kvorum.storage.no.space").counter().count()).isEqualTo(refused);
	}

}
