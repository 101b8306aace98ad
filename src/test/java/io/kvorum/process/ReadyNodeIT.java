package io.kvorum.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Poll;
import io.kvorum.testing.Together;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What readiness promises: {@code -Dkvorum.test.ready.restarts=50} sets how often a node
 * is restarted.
 */
@DisplayName("A node that is ready is used by its peers, and uses them")
class ReadyNodeIT {

	private static final int RESTARTS = Integer.getInteger("kvorum.test.ready.restarts", 6);

	/** For each node; their connections are spread over its event loops. */
	private static final int CLIENTS = 4;

	private static final Duration DEADLINE = Duration.ofSeconds(30);

	/** Such an entry has a stream of its own between nodes. */
	private static final String LARGE_VALUE = "v".repeat(20_000);

	/** Only a peer that is away fails an operation here, however slow the machine is. */
	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "kvorum.replication.read-timeout=20s",
			"kvorum.replication.write-timeout=20s", "kvorum.cluster.silence-timeout=10s",
			"kvorum.cluster.connect-timeout=10s");

	@Test
	@DisplayName("restarted by SIGTERM or SIGKILL, each in turn: operations that need all replicas succeed at all nodes from the moment of readiness on")
	void usedAtOnce() throws InterruptedException {
		List<String> failures = new ArrayList<>();
		for (int restart = 1; restart <= RESTARTS; restart++) {
			int node = 1 + restart % 3;
			if (restart % 2 == 0) {
				cluster.stop(node);
			}
			else {
				cluster.kill9(node);
			}
			cluster.start(node);
			String name = "restart %d, of node %d".formatted(restart, node);
			List<String> failed = operations(name, node);
			Map<String, Map<String, String>> peers = failed.isEmpty() ? Map.of() : peersNow();
			failed.forEach(failure -> failures.add("%s: %s, peers %s".formatted(name, failure, peers)));
		}
		assertThat(failures).isEmpty();
	}

	private static Map<String, Map<String, String>> peersNow() {
		return Map.of("of 1", cluster.peers(1), "of 2", cluster.peers(2), "of 3", cluster.peers(3));
	}

	/** What failed of operations that begin now, at all nodes at the same time. */
	private static List<String> operations(String name, int restarted) {
		return Together
			.run(CLIENTS * cluster.nodes().size(),
					client -> () -> operations("%s by %d".formatted(name, client), restarted,
							cluster.nodes().get(client % cluster.nodes().size())))
			.stream()
			.flatMap(List::stream)
			.toList();
	}

	private static List<String> operations(String name, int restarted, int coordinator) {
		int other = cluster.others(restarted).stream().filter(node -> node != coordinator).findFirst().orElseThrow();
		String onTwo = cluster.keyOn(name, restarted, (coordinator != restarted) ? coordinator : other);
		KvorumClient client = cluster.client(coordinator);
		return Stream
			.of(client.put(onTwo, "value", "replicas=2/2"), client.get(onTwo, "replicas=2/2"),
					client.put(name, "value", "replicas=3/3"), client.get(name, "replicas=3/3"),
					client.put(name, LARGE_VALUE, "replicas=3/3"), client.get(name, "replicas=3/3"))
			.filter(answer -> answer.status() / 100 != 2)
			.map(answer -> "by node " + coordinator + ": " + answer)
			.toList();
	}

	@Test
	@DisplayName("a peer that is dead, or stopped in the middle, does not keep a node from getting ready")
	void withoutPeers() throws InterruptedException {
		cluster.kill9(2);
		cluster.pause(3);
		cluster.kill9(1);
		cluster.start(1);

		Answer readiness = cluster.client(1).exchange("GET", "/actuator/health/readiness");
		assertThat(readiness.status()).as(readiness.text()).isEqualTo(200);
		cluster.resume(3);
		Poll.until(() -> "node 1 uses node 3: " + cluster.peers(1), DEADLINE,
				() -> cluster.client(1).put("without peers", "value", "replicas=2/3").status() == 201);
	}

}
