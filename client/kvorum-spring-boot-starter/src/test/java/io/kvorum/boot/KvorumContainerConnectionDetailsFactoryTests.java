package io.kvorum.boot;

import java.net.URI;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.context.ImportTestcontainers;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

import static org.assertj.core.api.Assertions.assertThat;

/** The containers are not started, so no Docker is needed. */
@DisplayName("A container with @ServiceConnection")
class KvorumContainerConnectionDetailsFactoryTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(ServiceConnectionAutoConfiguration.class, KvorumClientAutoConfiguration.class));

	@Test
	@DisplayName("of the image kvorum: its port 8080 is where the client connects")
	void byImage() {
		this.runner.withUserConfiguration(ByImage.class).run((context) -> {
			assertThat(context).hasSingleBean(KvorumConnectionDetails.class);
			KvorumConnectionDetails details = context.getBean(KvorumConnectionDetails.class);
			assertThat(details.urls()).containsExactly(URI.create("http://docker.test:18080"));
			assertThat(details.apiKey()).isNull();
			assertThat(details.sslBundle()).isNull();
		});
	}

	@Test
	@DisplayName("named kvorum: likewise, whatever its image")
	void byName() {
		this.runner.withUserConfiguration(ByName.class)
			.run((context) -> assertThat(context.getBean(KvorumConnectionDetails.class).urls())
				.containsExactly(URI.create("http://docker.test:18080")));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportTestcontainers
	static class ByImage {

		@ServiceConnection
		static final FakeContainer kvorum = new FakeContainer("example.test/kvorum:0.1.0");

	}

	@Configuration(proxyBeanMethods = false)
	static class ByName {

		@Bean
		@ServiceConnection("kvorum")
		FakeContainer container() {
			return new FakeContainer("other:1");
		}

	}

	/** Needs no Docker. */
	static final class FakeContainer extends GenericContainer<FakeContainer> {

		private final String image;

		FakeContainer(String image) {
			super(DockerImageName.parse(image));
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
		public void stop() {
		}

	}

}
