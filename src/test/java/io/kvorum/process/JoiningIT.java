package io.kvorum.process;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.Poll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** What a rolling update in Kubernetes waits for: the group "joined". */
@DisplayName("A node has joined when the next one may be restarted, and that does not depend on its peers later")
class JoiningIT {

	private static final String READINESS = "/actuator/health/readiness";

	private static final String JOINED = "/actuator/health/joined";

	private static final Duration JOIN_DEADLINE = Duration.ofSeconds(30);

	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "kvorum.hints.replay-interval=1s");

	private static int status(int node, String path) {
		return cluster.client(node).exchange("GET", path).status();
	}

	private static void awaitJoined(List<Integer> nodes) throws InterruptedException {
		Poll.until(() -> "joined: " + cluster.convergence(nodes.getFirst()), JOIN_DEADLINE,
				() -> nodes.stream().allMatch(node -> status(node, JOINED) == 200));
	}

	private static Map<?, ?> waitsFor(int node) {
		return (Map<?, ?>) cluster.convergence(node).getOrDefault("waitsFor", Map.of());
	}

	@Test
	@DisplayName("one of three restarts while another is away: ready at once, joined when that one is back and both are equal")
	void restartedWhileAnotherIsAway() throws InterruptedException {
		awaitJoined(cluster.nodes());
		cluster.kill9(2);
		cluster.stop(3);
		cluster.start(3);
		Poll.until(() -> "only the dead one is waited for: " + waitsFor(3), JOIN_DEADLINE,
				() -> waitsFor(3).equals(Map.of(cluster.address(2), "it is away")));
		assertThat(status(3, READINESS)).isEqualTo(200);
		assertThat(status(3, "/actuator/health")).as("by itself it is no failure").isEqualTo(200);
		assertThat(status(3, JOINED)).isEqualTo(503);

		cluster.start(2);
		awaitJoined(List.of(2, 3));
	}

	@Test
	@DisplayName("a node that has joined stays so while its peers are away; one of them that has lost its disk has not joined before it is rebuilt, though it is ready")
	void peersThatGo() throws InterruptedException {
		cluster.awaitConverged();
		awaitJoined(cluster.nodes());
		cluster.kill9(2);
		cluster.kill9(3);
		cluster.awaitAway(2);
		cluster.awaitAway(3);

		Answer joined = cluster.client(1).exchange("GET", JOINED);
		assertThat(joined.status()).as(joined.text()).isEqualTo(200);

		cluster.wipe(3);
		cluster.start(3);
		assertThat(status(3, READINESS)).isEqualTo(200);
		assertThat(status(3, JOINED)).isEqualTo(503);
		assertThat(waitsFor(3).get("membership")).asString().contains("does not vote");

		cluster.start(2);
		awaitJoined(List.of(2, 3));
		assertThat(cluster.isMember(3)).isTrue();
	}

}
