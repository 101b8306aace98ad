package io.kvorum.boot;

import java.time.Duration;
import java.util.Objects;

import io.kvorum.client.KvorumClient;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.health.actuate.endpoint.HealthDescriptor;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthContributor;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("The health of an application")
class KvorumHealthTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(KvorumClientAutoConfiguration.class, KvorumHealthContributorAutoConfiguration.class,
					HealthContributorRegistryAutoConfiguration.class, HealthEndpointAutoConfiguration.class));

	@Test
	@DisplayName("has the cluster, as kvorum, without a web server, too")
	void registered() {
		try (FakeNode node = FakeNode.empty()) {
			this.runner.withPropertyValues("kvorum.client.urls=" + node.url()).run((context) -> {
				HealthDescriptor health = context.getBean(HealthEndpoint.class).healthForPath("kvorum");
				assertThat(health).isNotNull().extracting(HealthDescriptor::getStatus).isEqualTo(Status.UP);
			});
		}
	}

	@Test
	@DisplayName("with management.health.kvorum.enabled=false: does not have it")
	void disabled() {
		this.runner.withPropertyValues("management.health.kvorum.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(ReactiveHealthContributor.class));
	}

	@Test
	@DisplayName("without Boot's health on the class path: the application starts")
	void absent() {
		new ApplicationContextRunner().withUserConfiguration(Application.class)
			.withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(KvorumClient.class)
				.doesNotHaveBean(KvorumHealthContributorAutoConfiguration.class));
	}

	@Test
	@DisplayName("the application's own: replaces it")
	void own() {
		this.runner
			.withBean("kvorumHealthIndicator", ReactiveHealthIndicator.class,
					() -> () -> Mono.just(Health.outOfService().build()))
			.run((context) -> assertThat(context).hasSingleBean(ReactiveHealthContributor.class)
				.hasBean("kvorumHealthIndicator"));
	}

	@Test
	@DisplayName("the key is absent: up")
	void up() {
		try (FakeNode node = FakeNode.empty()) {
			assertThat(health(node)).isEqualTo(Health.up().withDetail("timeLimit", "PT2S").build());
		}
	}

	@Test
	@DisplayName("403, the API key has no right to that key: up, since the cluster answers")
	void forbidden() {
		try (FakeNode node = FakeNode.problem(403, "forbidden")) {
			assertThat(health(node)).isEqualTo(Health.up()
				.withDetail("timeLimit", "PT2S")
				.withDetail("node", node.url().toString())
				.withDetail("answer", "forbidden")
				.build());
		}
	}

	@Test
	@DisplayName("401, the API key is wrong: down, with the reason")
	void unauthorized() {
		try (FakeNode node = FakeNode.problem(401, "unauthorized")) {
			Health health = health(node);
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails()).containsEntry("node", node.url().toString());
			assertThat(health.getDetails().get("error")).asString().contains("401 unauthorized");
		}
	}

	@Test
	@DisplayName("too few replicas: down, with the reason")
	void notEnoughReplicas() {
		try (FakeNode node = FakeNode.problem(504, "not-enough-replicas")) {
			Health health = health(node);
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails().get("error")).asString().contains("not-enough-replicas");
		}
	}

	@Test
	@DisplayName("a node that does not answer: down, after 2 seconds")
	void silent() {
		try (FakeNode node = FakeNode.silent()) {
			long start = System.nanoTime();
			Health health = health(node);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofSeconds(1),
					Duration.ofSeconds(4));
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails()).containsEntry("node", node.url().toString());
		}
	}

	@Test
	@DisplayName("one node of two does not answer: up, since the other one does")
	void oneSilent() {
		try (FakeNode silent = FakeNode.silent();
				FakeNode node = FakeNode.empty();
				KvorumClient client = KvorumClient.builder(silent.url().toString(), node.url().toString()).build()) {
			KvorumHealthIndicator indicator = new KvorumHealthIndicator(client);
			// The first node is drawn.
			do {
				assertThat(indicator.health().block(PATIENCE)).extracting(Health::getStatus).isEqualTo(Status.UP);
			}
			while (silent.requests().isEmpty());
		}
	}

	private static Health health(FakeNode node) {
		try (KvorumClient client = KvorumClient.builder(node.url().toString()).build()) {
			return Objects.requireNonNull(new KvorumHealthIndicator(client).health().block(PATIENCE));
		}
	}

	/** Chooses auto-configurations as Spring Boot does: by what they need. */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ KvorumClientAutoConfiguration.class, KvorumHealthContributorAutoConfiguration.class })
	static class Application {

	}

}
