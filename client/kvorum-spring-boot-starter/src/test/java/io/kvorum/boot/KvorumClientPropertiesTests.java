package io.kvorum.boot;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import com.jayway.jsonpath.JsonPath;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.validation.BindValidationException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.util.unit.DataSize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("The properties kvorum.client.*")
class KvorumClientPropertiesTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(KvorumClientAutoConfiguration.class));

	@Test
	@DisplayName("have the defaults of the client")
	void defaults() {
		this.runner.run((context) -> assertThat(context.getBean(KvorumClientProperties.class))
			.isEqualTo(new KvorumClientProperties(List.of(URI.create("http://localhost:8080")), null,
					Duration.ofSeconds(10), Duration.ofSeconds(3), Duration.ofSeconds(1), 10, 256,
					DataSize.ofMegabytes(1), new KvorumClientProperties.Ssl(null))));
	}

	@Test
	@DisplayName("are bound")
	void bound() {
		this.runner
			.withPropertyValues("kvorum.client.urls=http://one:8080,http://two:8080", "kvorum.client.api-key=secret",
					"kvorum.client.deadline=20s", "kvorum.client.attempt-timeout=5s",
					"kvorum.client.connect-timeout=200ms", "kvorum.client.max-attempts=1",
					"kvorum.client.max-connections=8", "kvorum.client.max-value-size=2MB")
			.run((context) -> {
				KvorumClientProperties properties = context.getBean(KvorumClientProperties.class);
				assertThat(properties).isEqualTo(new KvorumClientProperties(
						List.of(URI.create("http://one:8080"), URI.create("http://two:8080")), "secret",
						Duration.ofSeconds(20), Duration.ofSeconds(5), Duration.ofMillis(200), 1, 8,
						DataSize.ofMegabytes(2), new KvorumClientProperties.Ssl(null)));
				assertThat(properties.toString()).contains("http://two:8080").doesNotContain("secret");
			});
	}

	@Test
	@DisplayName("out of their limits: the application does not start, and is told of all of them at once")
	void outOfLimits() {
		this.runner
			.withPropertyValues("kvorum.client.urls=kvorum-0:8080", "kvorum.client.api-key=secret",
					"kvorum.client.deadline=0s", "kvorum.client.attempt-timeout=-1s",
					"kvorum.client.connect-timeout=2d", "kvorum.client.max-attempts=0",
					"kvorum.client.max-connections=100000", "kvorum.client.max-value-size=2GB")
			.run((context) -> {
				assertThat(context).getFailure().hasRootCauseInstanceOf(BindValidationException.class);
				assertThat(analysis(context.getStartupFailure()))
					.contains("must be http://host:port or https://host:port, not kvorum-0:8080",
							"kvorum.client.deadline", "kvorum.client.attemptTimeout", "kvorum.client.connectTimeout",
							"must be from 1ms to 1d", "kvorum.client.maxAttempts", "must be from 1 to 1000",
							"kvorum.client.maxConnections", "must be from 1 to 65535", "kvorum.client.maxValueSize",
							"must be from 1B to 1GB", "Value: \"100000\"", "Origin: \"kvorum.client.max-connections\"")
					.doesNotContain("secret");
			});
	}

	@Test
	@DisplayName("without a URL: the application does not start")
	void noUrl() {
		this.runner.withPropertyValues("kvorum.client.urls=")
			.run((context) -> assertThat(analysis(context.getStartupFailure()))
				.contains("must have at least one URL of a node"));
	}

	@Test
	@DisplayName("with an SSL bundle and a URL without https: the application does not start, as keys would be sent in clear")
	void bundleWithoutHttps() {
		this.runner
			.withPropertyValues("kvorum.client.urls=https://one:8080,http://two:8080",
					"kvorum.client.ssl.bundle=cluster")
			.run((context) -> assertThat(analysis(context.getStartupFailure())).contains("kvorum.client.ssl.bundle",
					"must have URLs with https, not http://two:8080"));
	}

	@Test
	@DisplayName("are in the metadata for editors, each with a description and all but two with a default")
	void metadata() throws IOException {
		ClassPathResource file = new ClassPathResource("META-INF/spring-configuration-metadata.json");
		List<Map<String, Object>> read = JsonPath.read(file.getContentAsString(UTF_8), "$.properties");
		List<Map<String, Object>> properties = new ArrayList<>(read);
		properties.sort(Comparator.comparing((property) -> String.valueOf(property.get("name"))));
		assertThat(properties).extracting((property) -> property.get("name") + "=" + property.get("defaultValue"))
			.containsExactly("kvorum.client.api-key=null", "kvorum.client.attempt-timeout=3s",
					"kvorum.client.connect-timeout=1s", "kvorum.client.deadline=10s", "kvorum.client.max-attempts=10",
					"kvorum.client.max-connections=256", "kvorum.client.max-value-size=1MB",
					"kvorum.client.ssl.bundle=null", "kvorum.client.urls=http://localhost:8080",
					"management.health.kvorum.enabled=true");
		assertThat(properties)
			.allSatisfy((property) -> assertThat(property.get("description")).asString().endsWith("."));
	}

	/** What Spring Boot prints. */
	private static String analysis(@Nullable Throwable failure) {
		Throwable cause = Objects.requireNonNull(failure);
		return SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, SpringFactoriesLoader.FailureHandler.handleMessage((message, ex) -> {
			}))
			.stream()
			.map((analyzer) -> analyzer.analyze(cause))
			.filter((analysis) -> analysis != null)
			.map(FailureAnalysis::getDescription)
			.findFirst()
			.orElse("not analyzed");
	}

}
