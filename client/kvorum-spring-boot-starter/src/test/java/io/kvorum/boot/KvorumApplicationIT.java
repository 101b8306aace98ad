package io.kvorum.boot;

import java.time.Duration;
import java.util.Objects;

import io.kvorum.client.Codec;
import io.kvorum.client.Entity;
import io.kvorum.client.KvorumClient;
import io.kvorum.test.KvorumExtension;
import io.micrometer.observation.tck.TestObservationRegistry;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("An application with a real node")
@SpringBootTest(webEnvironment = WebEnvironment.NONE, properties = "kvorum.client.urls=http://localhost:1")
class KvorumApplicationIT {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(1);

	@Autowired
	private KvorumClient client;

	@Autowired
	private HealthEndpoint health;

	@Autowired
	private TestObservationRegistry observations;

	@Test
	@DisplayName("writes and reads, and both are observed")
	void putAndGet() {
		this.observations.clear();
		var texts = this.client.entities(Codec.text());
		String read = texts.put("greeting", "hello").then(texts.get("greeting")).map(Entity::value).block(PATIENCE);
		assertThat(read).isEqualTo("hello");
		assertThat(this.observations).hasAnObservationWithAKeyValue("db.operation.name", "put")
			.hasAnObservationWithAKeyValue("db.operation.name", "get")
			.hasNumberOfObservationsWithNameEqualTo("kvorum.client", 2);
	}

	@Test
	@DisplayName("is up; after the node was killed, it is down; after its start, it is up again")
	void healthThroughAKill() {
		assertThat(status()).isEqualTo(Status.UP);
		kvorum.node(1).kill();
		assertThat(status()).isEqualTo(Status.DOWN);
		kvorum.node(1).start();
		assertThat(status()).isEqualTo(Status.UP);
	}

	private Status status() {
		return Objects.requireNonNull(this.health.healthForPath("kvorum")).getStatus();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		TestObservationRegistry observations() {
			return TestObservationRegistry.create();
		}

	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Nodes {

		@Bean
		KvorumConnectionDetails kvorumConnectionDetails() {
			return kvorum::urls;
		}

	}

}
