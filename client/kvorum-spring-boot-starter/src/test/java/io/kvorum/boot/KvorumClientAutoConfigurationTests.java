package io.kvorum.boot;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.KvorumException.NoAnswer;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.validation.BindValidationException;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.util.function.ThrowingConsumer;
import org.springframework.validation.FieldError;
import reactor.core.Exceptions;
import reactor.netty.http.server.HttpServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@DisplayName("The client of an application")
class KvorumClientAutoConfigurationTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, KvorumClientAutoConfiguration.class));

	@Test
	@DisplayName("without properties: there is one, of the node at localhost:8080")
	void defaults() {
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(KvorumClient.class);
			KvorumConnectionDetails details = context.getBean(KvorumConnectionDetails.class);
			assertThat(details.urls()).containsExactly(URI.create("http://localhost:8080"));
			assertThat(details.apiKey()).isNull();
			assertThat(details.sslBundle()).isNull();
		});
	}

	@Test
	@DisplayName("the application's own: there is no other")
	void ownClient() {
		this.runner.withUserConfiguration(OwnClient.class).run((context) -> {
			assertThat(context).hasSingleBean(KvorumClient.class);
			assertThat(context).hasBean("ownClient");
		});
	}

	@Test
	@DisplayName("the application's own connection details: those of the properties are gone, and it asks those nodes")
	void ownDetails() {
		try (FakeNode node = FakeNode.empty()) {
			this.runner.withPropertyValues("kvorum.client.api-key=secret")
				.withBean("ownDetails", KvorumConnectionDetails.class, () -> () -> List.of(node.url()))
				.run((context) -> {
					assertThat(context).hasSingleBean(KvorumConnectionDetails.class);
					read(context);
					assertThat(node.requests()).hasSize(1);
					assertThat(node.requests().get(0).get("Authorization")).isNull();
				});
		}
	}

	@Test
	@DisplayName("with properties: it asks those nodes, with the API key")
	void urlsAndKey() {
		try (FakeNode node = FakeNode.empty()) {
			of(node).withPropertyValues("kvorum.client.api-key=secret").run((context) -> {
				read(context);
				assertThat(node.requests()).hasSize(1);
				assertThat(node.requests().get(0).get("Authorization")).isEqualTo("Bearer secret");
			});
		}
	}

	@Test
	@DisplayName("with the password of a user in a URL: it is refused, and the password not told")
	void urlWithUser() {
		this.runner.withPropertyValues("kvorum.client.urls=http://a:8080,http://user:hidden@b:8080")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(BindValidationException.class,
						(ex) -> assertThat(ex.getValidationErrors().getAllErrors()).singleElement()
							// Spring Boot prints the value of a field.
							.isNotInstanceOf(FieldError.class)
							.asString()
							.contains("without a user")));
	}

	@Test
	@DisplayName("with an empty API key: it sends none")
	void emptyKey() {
		try (FakeNode node = FakeNode.empty()) {
			of(node).withPropertyValues("kvorum.client.api-key=${KVORUM_TEST_NO_SUCH_KEY:}").run((context) -> {
				read(context);
				assertThat(node.requests().get(0).get("Authorization")).isNull();
			});
		}
	}

	@Test
	@DisplayName("with max-attempts: it sends no more requests")
	void maxAttempts() {
		try (FakeNode node = FakeNode.problem(503, "not-accepted")) {
			of(node).withPropertyValues("kvorum.client.max-attempts=3").run((context) -> {
				assertThatExceptionOfType(KvorumException.Overloaded.class).isThrownBy(() -> read(context));
				assertThat(node.requests()).hasSize(3);
			});
		}
	}

	@Test
	@DisplayName("with attempt-timeout and deadline: a silent node is asked again, until the deadline")
	void timeouts() {
		try (FakeNode node = FakeNode.silent()) {
			// On a busy machine a second passes before the first request is sent.
			of(node).withPropertyValues("kvorum.client.attempt-timeout=100ms", "kvorum.client.deadline=5s")
				.run((context) -> {
					assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> read(context));
					assertThat(node.requests()).hasSizeGreaterThan(1);
				});
		}
	}

	@Test
	@DisplayName("with an observation registry: operations are observed")
	void observation() {
		TestObservationRegistry observations = TestObservationRegistry.create();
		try (FakeNode node = FakeNode.empty()) {
			of(node).withBean(TestObservationRegistry.class, () -> observations).run((context) -> read(context));
		}
		assertThat(observations).hasObservationWithNameEqualTo("kvorum.client")
			.that()
			.hasLowCardinalityKeyValue("db.operation.name", "get")
			.hasBeenStopped();
	}

	@Test
	@DisplayName("with two observation registries, none of them primary: nothing is observed")
	void twoRegistries() {
		TestObservationRegistry one = TestObservationRegistry.create();
		try (FakeNode node = FakeNode.empty()) {
			of(node).withBean("one", TestObservationRegistry.class, () -> one)
				.withBean("other", TestObservationRegistry.class, TestObservationRegistry::create)
				.run((context) -> read(context));
		}
		assertThat(one).doesNotHaveAnyObservation();
	}

	@Test
	@DisplayName("with customizers: they come after the properties, in their order")
	void customizers() {
		try (FakeNode node = FakeNode.problem(503, "not-accepted")) {
			of(node).withUserConfiguration(Customizers.class)
				.withPropertyValues("kvorum.client.max-attempts=3")
				.run((context) -> {
					assertThat(context.getBean(Customizers.class).order).containsExactly("first", "second");
					assertThatExceptionOfType(KvorumException.Overloaded.class).isThrownBy(() -> read(context));
					assertThat(node.requests()).hasSize(2);
				});
		}
	}

	@Test
	@DisplayName("with the SSL bundle of the cluster: it trusts its nodes; without: it does not")
	void sslBundle() throws Exception {
		X509Bundle certificate = new CertificateBuilder().subject("CN=localhost")
			.addSanDnsName("localhost")
			.setIsCertificateAuthority(true)
			.ecp256()
			.buildSelfSigned();
		try (FakeNode node = FakeNode.empty("https", (server) -> secured(server, certificate))) {
			ApplicationContextRunner https = of(node).withPropertyValues("kvorum.client.max-attempts=1",
					"spring.ssl.bundle.pem.cluster.truststore.certificate=" + certificate.getCertificatePathPEM());
			https.withPropertyValues("kvorum.client.ssl.bundle=cluster").run((context) -> {
				read(context);
				assertThat(node.requests()).hasSize(1);
			});
			https.run((context) -> {
				assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> read(context));
				assertThat(node.requests()).hasSize(1);
			});
		}
	}

	private static HttpServer secured(HttpServer server, X509Bundle certificate) {
		return server.secure(ThrowingConsumer.of((spec) -> spec.sslContext(
				SslContextBuilder.forServer(certificate.getKeyPair().getPrivate(), certificate.getCertificatePath())
					.build())));
	}

	@Test
	@DisplayName("with an SSL bundle that does not exist: the application does not start")
	void noSuchBundle() {
		this.runner
			.withPropertyValues("kvorum.client.urls=https://localhost:8443", "kvorum.client.ssl.bundle=no-such-bundle")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(BeanCreationException.class)
				.hasRootCauseInstanceOf(NoSuchSslBundleException.class));
	}

	@Test
	@DisplayName("is closed with the application")
	void closed() {
		try (FakeNode node = FakeNode.empty()) {
			of(node).run((context) -> read(context));
			assertThat(node.requests()).hasSize(1);
			node.left().block(PATIENCE);
		}
	}

	private ApplicationContextRunner of(FakeNode node) {
		return this.runner.withPropertyValues("kvorum.client.urls=" + node.url());
	}

	private static void read(ApplicationContext context) {
		try {
			assertThat(context.getBean(KvorumClient.class).entities().get("key").block(PATIENCE)).isNull();
		}
		catch (RuntimeException ex) {
			throw Exceptions.propagate(Exceptions.unwrap(ex));
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnClient {

		@Bean
		KvorumClient ownClient() {
			return KvorumClient.builder("http://localhost:8081").build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Customizers {

		private final List<String> order = new CopyOnWriteArrayList<>();

		@Bean
		@Order(2)
		KvorumClientCustomizer second() {
			return (builder) -> {
				this.order.add("second");
				builder.maxAttempts(2);
			};
		}

		@Bean
		@Order(1)
		KvorumClientCustomizer first() {
			return (builder) -> {
				this.order.add("first");
				builder.maxAttempts(1);
			};
		}

	}

}
