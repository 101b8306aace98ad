package io.kvorum.testcontainers;

import java.time.Duration;

import io.kvorum.boot.KvorumConnectionDetails;
import io.kvorum.client.Codec;
import io.kvorum.client.Entities;
import io.kvorum.client.Entity;
import io.kvorum.client.KvorumClient;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Configuration;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;

import static org.assertj.core.api.Assertions.assertThat;

/** The example of the README. */
@DisplayName("An application with a cluster of containers")
@TestImage.Required
@Testcontainers
@SpringBootTest(webEnvironment = WebEnvironment.NONE)
class ServiceConnectionIT {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@Container
	static final KvorumCluster cluster = new KvorumCluster(TestImage.NAME);

	@ServiceConnection
	static final KvorumContainer kvorum = cluster.node(1);

	@Test
	@DisplayName("has a client of all nodes, which goes on without one")
	void goesOnWithoutANode(@Autowired KvorumClient client, @Autowired KvorumConnectionDetails details) {
		assertThat(details.urls()).isEqualTo(cluster.urls()).hasSize(3);
		Entities<String> texts = client.entities(Codec.text());
		texts.put("greeting", "hello").block(PATIENCE);
		cluster.kill(1);
		assertThat(texts.get("greeting").map(Entity::value).block(PATIENCE)).isEqualTo("hello");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
