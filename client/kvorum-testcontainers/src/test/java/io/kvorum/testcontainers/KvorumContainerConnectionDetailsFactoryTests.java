package io.kvorum.testcontainers;

import java.net.URI;
import java.util.List;

import io.kvorum.boot.KvorumClientAutoConfiguration;
import io.kvorum.boot.KvorumConnectionDetails;
import io.kvorum.client.KvorumClient;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.context.ImportTestcontainers;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.testcontainers.utility.DockerImageName;

import static org.assertj.core.api.Assertions.assertThat;

/** The containers are not started, so no Docker is needed. */
@DisplayName("A KvorumContainer with @ServiceConnection")
class KvorumContainerConnectionDetailsFactoryTests {

	private static final String API_KEY = "tests.KJ_KnLx9p0dYGee1zVJ33dzv8KsOWJK_vmTTT59B93s";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withPropertyValues("kvorum.client.urls=http://not.this.test:8080")
		.withConfiguration(
				AutoConfigurations.of(ServiceConnectionAutoConfiguration.class, KvorumClientAutoConfiguration.class));

	@Test
	@DisplayName("in a field: its URL and its API key are those of the client, and come from one factory only")
	void inField() {
		this.runner.withUserConfiguration(InField.class).run((context) -> {
			assertThat(context).hasSingleBean(KvorumConnectionDetails.class).hasSingleBean(KvorumClient.class);
			KvorumConnectionDetails details = context.getBean(KvorumConnectionDetails.class);
			assertThat(details.urls()).containsExactly(URI.create("http://docker.test:18080"));
			assertThat(details.apiKey()).isEqualTo(API_KEY);
			assertThat(details.sslBundle()).isNull();
		});
	}

	@Test
	@DisplayName("as a bean, of any image and any name: likewise")
	void asBean() {
		this.runner.withUserConfiguration(AsBean.class)
			.run((context) -> assertThat(context.getBean(KvorumConnectionDetails.class).urls())
				.containsExactly(URI.create("http://docker.test:18080")));
	}

	@Test
	@DisplayName("that is a node of a cluster: the URLs of all nodes")
	void ofCluster() {
		this.runner.withUserConfiguration(OfCluster.class)
			.run((context) -> assertThat(context.getBean(KvorumConnectionDetails.class).urls())
				.containsExactly(URI.create("http://docker.test:1"), URI.create("http://docker.test:2")));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportTestcontainers
	static class InField {

		@ServiceConnection
		static final KvorumContainer kvorum = new FakeContainer("kvorum:0.1.0").withApiKey(API_KEY);

	}

	@Configuration(proxyBeanMethods = false)
	static class AsBean {

		@Bean
		@ServiceConnection("orders")
		FakeContainer kvorum() {
			return new FakeContainer("mirror.test/store:1");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfCluster {

		@Bean
		@ServiceConnection
		KvorumContainer kvorum() {
			return new FakeContainer("kvorum:0.1.0") {

				@Override
				public List<URI> getUrls() {
					return List.of(url(1), url(2));
				}

			};
		}

	}

	/** Needs no Docker. */
	static class FakeContainer extends KvorumContainer {

		private final String image;

		FakeContainer(String image) {
			super(DockerImageName.parse(image).asCompatibleSubstituteFor("kvorum"));
			this.image = image;
		}

		@Override
		public String getDockerImageName() {
			return this.image;
		}

		@Override
		public boolean isRunning() {
			return true;
		}

		@Override
		public String getHost() {
			return "docker.test";
		}

		@Override
		public Integer getMappedPort(int port) {
			return 10_000 + port;
		}

		@Override
		public void start() {
		}

		@Override
		public void stop() {
		}

	}

}
