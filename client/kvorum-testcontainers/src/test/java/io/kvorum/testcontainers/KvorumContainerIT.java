package io.kvorum.testcontainers;

import java.time.Duration;
import java.util.List;

import io.kvorum.client.Codec;
import io.kvorum.client.Entities;
import io.kvorum.client.Entity;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException.AccessDenied;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@DisplayName("A container that was started with an API key and a property")
@TestImage.Required
@Testcontainers
class KvorumContainerIT {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final String API_KEY = "tests.KJ_KnLx9p0dYGee1zVJ33dzv8KsOWJK_vmTTT59B93s";

	@Container
	static final KvorumContainer kvorum = new KvorumContainer(TestImage.NAME).withApiKey(API_KEY)
		.withProperty("kvorum.api.max-value-size", "16B");

	@Test
	@DisplayName("answers a client that has the key, and no other one")
	void apiKey() {
		Entities<String> texts = texts(API_KEY);
		String read = texts.put("greeting", "hello").then(texts.get("greeting")).map(Entity::value).block(PATIENCE);
		assertThat(read).isEqualTo("hello");
		assertThatExceptionOfType(AccessDenied.class)
			.isThrownBy(() -> texts(API_KEY.replace('s', 't')).get("greeting").block(PATIENCE));
	}

	@Test
	@DisplayName("has the command kvorum, with the key")
	void command() throws Exception {
		ExecResult put = kvorum.execInContainer("/usr/local/bin/kvorum", "put", "told", "word");
		assertThat(put.getExitCode()).as(put.toString()).isZero();
		assertThat(texts(API_KEY).get("told").map(Entity::value).block(PATIENCE)).isEqualTo("word");
	}

	private static Entities<String> texts(String key) {
		return KvorumClient.builder(List.of(kvorum.getUrl())).apiKey(() -> key).build().entities(Codec.text());
	}

}
