package io.kvorum.app;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** That a node starts with the properties it was given, or says all that is wrong. */
@ExtendWith(OutputCaptureExtension.class)
class PropertiesTest {

	private final ApplicationContextRunner contexts = new ApplicationContextRunner()
		.withUserConfiguration(PropertiesConfiguration.class);

	@Test
	void theDefaultsFitTogether() {
		this.contexts.run(context -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(KvorumProperties.class).storage().readThreads()).isEqualTo(4);
		});
	}

	@Test
	void allThatIsWrongIsToldInOneMessage(CapturedOutput output) {
		assertThatException().isThrownBy(() -> SpringApplication.run(KvorumApplication.class, "--server.port=0",
				"--kvorum.storage.durability=fsnyc", "--kvorum.storage.read-threads=0",
				"--kvorum.api.max-value-size=1 MiB", "--kvorum.replication.read-timeout=5 parsecs",
				"--kvorum.replication.factr=3", "--kvorum.storage.write-queue-time=3s"));
		assertThat(output.getOut())
			.containsOnlyOnce(
					"""

							The configuration cannot be used:

							    kvorum.api.max-value-size = 1 MiB: must be a size, such as 512KB, 64MB or 1GB
							    kvorum.replication.factr = 3: there is no such property
							    kvorum.replication.read-timeout = 5 parsecs: must be a duration, such as 500ms, 10s, 5m, 3h or 10d
							    kvorum.storage.durability = fsnyc: must be fsync or os
							    kvorum.storage.read-threads = 0: must be greater than or equal to 1
							    kvorum.storage.write-queue-time = 3000ms: must be less than kvorum.replication.write-timeout, which is 2000ms

							""")
			.doesNotContain("\tat ");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					kvorum.storage.cache-size=32MB                | kvorum.storage.memtable-size = 32MB: must be at most half of kvorum.storage.cache-size, which is 32MB
					kvorum.storage.write-queue-time=2s            | kvorum.storage.write-queue-time = 2000ms: must be less than kvorum.replication.write-timeout, which is 2000ms
					kvorum.api.body-stall-timeout=61s             | kvorum.api.body-stall-timeout = 61000ms: must be at most kvorum.api.body-timeout, which is 60000ms
					kvorum.api.max-in-flight-size=1MB;kvorum.api.max-value-size=2MB | kvorum.api.max-value-size = 2MB: must be at most kvorum.api.max-in-flight-size, which is 1MB
					kvorum.storage.write-queue-size=1MB           | kvorum.api.max-value-size = 1MB: must be at least 4KB less than kvorum.storage.write-queue-size, which is 1MB
					kvorum.api.max-value-size=65MB;kvorum.api.max-in-flight-size=1GB;kvorum.storage.write-queue-size=1GB | kvorum.api.max-value-size = 65MB: must be at most 64MB
					kvorum.storage.cache-size=7MB;kvorum.storage.memtable-size=3MB | kvorum.storage.cache-size = 7MB: must be at least 8MB
					kvorum.storage.read-threads=many              | kvorum.storage.read-threads = many: must be a whole number
					""")
	void whatIsWrongIsToldWithTheValueAndWhatIsAllowed(String given, String told) {
		this.contexts.withPropertyValues(given.split(";"))
			.run(context -> assertThat(context).getFailure()
				.hasRootCauseInstanceOf(WrongPropertiesException.class)
				.rootCause()
				.hasMessageContaining(told));
	}

	@Test
	void aPropertyWithoutAValueHasItsDefault() {
		this.contexts.withPropertyValues("kvorum.storage.path=", "kvorum.storage.cache-size=")
			.run(context -> assertThat(context.getBean(KvorumProperties.class).storage().path()).hasToString("data"));
	}

	@Test
	void propertiesOfOthersAreLeftToThem() {
		this.contexts.withPropertyValues("kvorumlike.storage.path=x")
			.run(context -> assertThat(context).hasNotFailed());
	}

}
