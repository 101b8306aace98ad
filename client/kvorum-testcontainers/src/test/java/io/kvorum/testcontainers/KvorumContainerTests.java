package io.kvorum.testcontainers;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.utility.DockerImageName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The containers are not started, so no Docker is needed. */
@DisplayName("A container")
class KvorumContainerTests {

	private static final String API_KEY = "tests.KJ_KnLx9p0dYGee1zVJ33dzv8KsOWJK_vmTTT59B93s";

	private final KvorumContainer container = new KvorumContainer("kvorum:0.1.0");

	@Test
	@DisplayName("exposes the port of the API, has no variables and no API key")
	void defaults() {
		assertThat(this.container.getExposedPorts()).containsExactly(8080);
		assertThat(this.container.getEnvMap()).isEmpty();
		assertThat(this.container.getApiKey()).isNull();
	}

	@Test
	@DisplayName("of an image that is declared a substitute is accepted; one of another image is not")
	void image() {
		String mirrored = "mirror.test/store/kvorum:0.1.0";
		assertThat(new KvorumContainer(DockerImageName.parse(mirrored).asCompatibleSubstituteFor("kvorum")).getEnvMap())
			.isEmpty();
		assertThatIllegalStateException().isThrownBy(() -> new KvorumContainer(mirrored))
			.withMessageContaining("asCompatibleSubstituteFor");
	}

	@ParameterizedTest
	@DisplayName("has a property as the environment variable that Spring Boot reads it from")
	@CsvSource({ "kvorum.storage.durability, KVORUM_STORAGE_DURABILITY",
			"kvorum.replication.read-timeout, KVORUM_REPLICATION_READTIMEOUT",
			"some.list[2].first-name, SOME_LIST_2_FIRSTNAME" })
	void property(String name, String variable) {
		this.container.withProperty(name, "earlier").withProperty(name, "value");
		assertThat(this.container.getEnvMap()).containsOnlyKeys(variable).containsEntry(variable, "value");
	}

	@ParameterizedTest
	@DisplayName("refuses what is no name of a property")
	@ValueSource(strings = { "", "kvorum.", "KVORUM_STORAGE_DURABILITY", "a=b", "a b", ".a", "a[x]" })
	void noProperty(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.container.withProperty(name, "value"))
			.withMessage("'%s' is no name of a property, such as kvorum.storage.durability", name);
	}

	@Test
	@DisplayName("refuses another port, at which it would not be reached")
	void reservedProperty() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.container.withProperty("server.port", "9000"))
			.withMessage("server.port is set by the container");
	}

	@Test
	@DisplayName("with an API key gives it to the command kvorum, and its hash to the node")
	void apiKey() {
		this.container.withApiKey(API_KEY);
		assertThat(this.container.getApiKey()).isEqualTo(API_KEY);
		assertThat(this.container.getEnvMap()).containsEntry("KVORUM_API_KEY", API_KEY)
			.containsEntry("KVORUM_ACCESS_KEYSFILE", "/kvorum/keys.json");
		assertThat(KvorumContainer.keysFile("tests", "secret")).contains("\"id\": \"tests\"")
			.contains("2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b");
	}

	@ParameterizedTest
	@DisplayName("refuses an API key that no request could have, and does not repeat it")
	@ValueSource(strings = { "", "secret", "tests.tooshort", ".KJ_KnLx9p0dYGee1zVJ33dzv8KsOWJK_vmTTT59B93s",
			"te\"sts.KJ_KnLx9p0dYGee1zVJ33dzv8KsOWJK_vmTTT59B93s" })
	void noApiKey(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.container.withApiKey(key))
			.withMessage("An API key is <id>.<secret>, with a secret of 43 characters");
	}

	@Test
	@DisplayName("has no URL before it is started")
	void notStarted() {
		assertThatIllegalStateException().isThrownBy(this.container::getUrl).withMessageContaining("started");
	}

}
