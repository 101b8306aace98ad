package io.kvorum.testcontainers;

import java.net.URI;
import java.time.Duration;
import java.util.List;

import io.kvorum.client.Codec;
import io.kvorum.client.Entities;
import io.kvorum.client.Entity;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.KvorumException.NoAnswer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@DisplayName("A cluster of three containers")
@TestImage.Required
@Testcontainers
class KvorumClusterIT {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@Container
	static final KvorumCluster cluster = new KvorumCluster(TestImage.NAME);

	@AfterEach
	void restore() {
		cluster.restore();
	}

	@Test
	@DisplayName("goes on without a killed node, which comes back with its URL and its data")
	void kill() {
		List<URI> urls = cluster.urls();
		Entities<String> texts = texts(urls);
		texts.put("killed", "before").block(PATIENCE);
		cluster.kill(1);
		assertThat(read(texts, "killed")).isEqualTo("before");
		texts.put("killed", "without").block(PATIENCE);
		cluster.start(1);
		assertThat(cluster.urls()).isEqualTo(urls);
		cluster.kill(2);
		assertThat(read(texts(urls.subList(0, 1)), "killed")).isEqualTo("without");
	}

	@Test
	@DisplayName("has its data after all nodes were killed")
	void killAll() {
		Entities<String> texts = texts(cluster.urls());
		texts.put("all", "kept").block(PATIENCE);
		for (int number = 1; number <= 3; number++) {
			cluster.kill(number);
		}
		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> read(texts, "all"));
		cluster.restore();
		assertThat(read(texts, "all")).isEqualTo("kept");
	}

	@Test
	@DisplayName("goes on without a paused node, which answers again when it is resumed")
	void pause() {
		cluster.pause(3);
		Entities<String> paused = texts(cluster.urls().subList(2, 3));
		assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> read(paused, "paused"));
		texts(cluster.urls().subList(0, 2)).put("paused", "without").block(PATIENCE);
		cluster.resume(3);
		assertThat(read(paused, "paused")).isEqualTo("without");
	}

	@Test
	@DisplayName("has no majority at a node that is cut off from the others, and one at them; heals")
	void cut() {
		cluster.cut(2);
		Entities<String> minority = texts(cluster.urls().subList(1, 2));
		assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> read(minority, "cut"))
			.satisfies((failure) -> assertThat(failure.problem()).as("an answer of the node").isNotNull());
		texts(cluster.urls().subList(0, 1)).put("cut", "without").block(PATIENCE);
		cluster.heal(2);
		assertThat(read(minority, "cut")).isEqualTo("without");
	}

	@Test
	@DisplayName("has the logs of its nodes, and no start of one that runs")
	void logs() {
		assertThat(cluster.logs()).contains("node-1:", "node-3:", "Started KvorumApplication");
		assertThatIllegalStateException().isThrownBy(() -> cluster.start(1)).withMessage("node-1 runs already");
	}

	private static Entities<String> texts(List<URI> urls) {
		return KvorumClient.builder(urls).build().entities(Codec.text());
	}

	private static String read(Entities<String> texts, String key) {
		return texts.get(key).map(Entity::value).blockOptional(PATIENCE).orElse("nothing");
	}

}
