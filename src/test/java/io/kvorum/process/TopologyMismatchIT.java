package io.kvorum.process;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.NodeSpec;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.Poll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("Nodes that do not agree")
class TopologyMismatchIT {

	private static final String SECRET = "secret-of-this-cluster-1";

	private static final String OTHER_SECRET = "secret-of-another-one-2";

	private static final Duration TOLD_DEADLINE = Duration.ofSeconds(30);

	/** However slow the machine is, a peer that refuses is not taken for a silent one. */
	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "kvorum.cluster.secret=" + SECRET,
			"kvorum.cluster.connect-timeout=10s", "kvorum.cluster.silence-timeout=10s",
			"kvorum.replication.write-timeout=20s");

	@RegisterExtension
	final Nodes nodes = new Nodes();

	@Test
	@DisplayName("another factor: both sides say so, the others go on, and nothing passes through the one that differs")
	void anotherFactor() throws InterruptedException {
		putOnAll("factor");
		cluster.restartAsStranger(3, cluster.spec(3).with("kvorum.replication.factor=2"));

		awaitSaid(3, cluster.address(1) + " is away: " + cluster.address(1) + " has another topology");
		awaitSaid(1, "A stream from " + cluster.address(3) + " was refused: " + cluster.address(1)
				+ " has another topology");
		awaitSaid(1, "kvorum.cluster.nodes or kvorum.replication.factor differ");
		awaitSaid(1, cluster.address(3) + " is away: " + cluster.address(3) + " has another topology");
		assertIsLeftOut(3, "factor");
	}

	@Test
	@DisplayName("another list of nodes: both sides say so, the others go on, and nothing passes through the one that differs")
	void anotherList() throws InterruptedException {
		putOnAll("list");
		cluster.restartAsStranger(3, cluster.spec(3).with("kvorum.cluster.nodes=" + cluster.addresses(List.of(1, 3))));

		awaitSaid(3, cluster.address(1) + " is away: " + cluster.address(1) + " has another topology");
		awaitSaid(3, "A stream from " + cluster.address(1) + " was refused: " + cluster.address(3)
				+ " has another topology");
		awaitSaid(1, "A stream from " + cluster.address(3) + " was refused: " + cluster.address(1)
				+ " has another topology");
		awaitSaid(2, cluster.address(3) + " is away: " + cluster.address(3) + " has another topology");
		assertIsLeftOut(3, "list");
	}

	@Test
	@DisplayName("the disk of a member in a node that would need none of the others: does not start, and says what to do; accept-loss takes it")
	void withoutOthers() throws InterruptedException {
		putOnAll("without others");
		cluster.awaitTogether();
		cluster.kill9(3);
		NodeSpec alone = NodeSpec.on(cluster.spec(3).data());
		NodeSpec self = alone.with("kvorum.cluster.self=" + cluster.address(3), "kvorum.cluster.secret=" + SECRET);
		for (NodeSpec spec : List.of(alone, self.with("kvorum.cluster.nodes=" + cluster.address(3)),
				self.with("kvorum.cluster.nodes=" + cluster.addresses(cluster.nodes()), "kvorum.replication.factor=1"),
				self.with("kvorum.cluster.nodes=http://127.0.0.1:1,http://127.0.0.1:2," + cluster.address(3)))) {
			NodeProcess node = this.nodes.launch(spec);
			assertThat(node.awaitExit()).isNotZero();
			assertThat(node.log()).contains("The store is that of a member of", "kvorum.cluster.accept-loss=true")
				.doesNotContain("\tat ");
		}
		NodeProcess accepted = this.nodes.start(alone.with("kvorum.cluster.accept-loss=true"));
		assertThat(accepted.client().get("without others").text()).isEqualTo("before");
		accepted.kill9();
		cluster.heal();
		assertUnchanged("without others");
	}

	@Test
	@DisplayName("another secret: both sides say so, the others go on, nothing passes through; no log has a secret")
	void anotherSecret() throws InterruptedException {
		putOnAll("secret");
		cluster.restartAsStranger(3, cluster.spec(3).with("kvorum.cluster.secret=" + OTHER_SECRET));

		awaitSaid(3, cluster.address(1) + " is away: " + cluster.address(1) + " has another kvorum.cluster.secret");
		awaitSaid(1, "A stream from " + cluster.address(3) + " was refused: " + cluster.address(1)
				+ " has another kvorum.cluster.secret");
		awaitSaid(1, cluster.address(3) + " is away: " + cluster.address(3) + " has another kvorum.cluster.secret");
		assertIsLeftOut(3, "secret");
		for (int node : cluster.nodes()) {
			assertThat(cluster.wholeLog(node)).doesNotContain(SECRET, OTHER_SECRET);
		}
	}

	@Test
	@DisplayName("a replica port that another node has: does not start, and says which address and property")
	void replicaPortTaken() throws InterruptedException {
		NodeProcess second = this.nodes.launch(this.nodes.spec()
			.with("kvorum.cluster.self=" + cluster.address(1),
					"kvorum.cluster.nodes=" + cluster.addresses(cluster.nodes())));

		assertThat(second.awaitExit()).isNotZero();
		assertThat(second.log()).contains(cluster.address(1).substring("http://".length()), "kvorum.cluster.self")
			.doesNotContain("Netty started")
			.doesNotContain("\tat ");
		assertWorks(1);
	}

	@Test
	@DisplayName("wrong kvorum.cluster.* values: does not start, and one message lists all of them, without the secret")
	void wrongProperties() throws InterruptedException {
		NodeProcess node = this.nodes.launch(this.nodes.spec()
			.with("kvorum.replication.read-timeout=1s", "kvorum.replication.write-timeout=2s",
					"kvorum.storage.write-queue-time=1s", "kvorum.cluster.self=ftp://127.0.0.1:9081",
					"kvorum.cluster.nodes=http://127.0.0.1:9081,http://127.0.0.1:9081,http://127.0.0.1",
					"kvorum.cluster.secret=tooShortASecret", "kvorum.cluster.silence-timeout=5s",
					"kvorum.cluster.connect-timeout=6s", "kvorum.cluster.hedge-delay=2s",
					"kvorum.cluster.max-in-flight=0", "kvorum.cluster.probe-interval=soon",
					"kvorum.cluster.nods=http://127.0.0.1:9081"));

		assertThat(node.awaitExit()).isNotZero();
		assertThat(node.log())
			.contains("kvorum.cluster.self", "kvorum.cluster.nodes[1]", "kvorum.cluster.nodes[2]",
					"kvorum.cluster.secret", "kvorum.cluster.silence-timeout", "kvorum.cluster.connect-timeout",
					"kvorum.cluster.hedge-delay", "kvorum.cluster.max-in-flight", "kvorum.cluster.probe-interval",
					"kvorum.cluster.nods")
			.doesNotContain("tooShortASecret")
			.doesNotContain("\tat ");
	}

	private static void putOnAll(String key) {
		Answer answer = cluster.client(1).put(key, "before", "replicas=3/3");
		assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
	}

	private static void awaitSaid(int node, String words) throws InterruptedException {
		NodeProcess process = cluster.node(node);
		Poll.until(() -> "node " + node + " says \"" + words + "\"", TOLD_DEADLINE,
				() -> saidBy(process).contains(words));
	}

	private static String saidBy(NodeProcess process) {
		try {
			return process.log();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	private static void assertIsLeftOut(int node, String key) throws InterruptedException {
		assertThat(cluster.peers(node).get(cluster.address(1))).startsWith("away: ");
		assertThat(cluster.peers(1).get(cluster.address(node))).startsWith("away: ");
		assertRefused(node, key);
		assertWorks(1);
		assertWorks(2);
		cluster.heal();
		assertUnchanged(key);
	}

	/**
	 * It is not ready, so that nobody is led to it; whoever comes all the same is told.
	 */
	private static void assertRefused(int node, String key) throws InterruptedException {
		KvorumClient client = cluster.client(node);
		Answer readiness = client.exchange("GET", "/actuator/health/readiness");
		assertThat(readiness.status()).as(readiness.toString()).isEqualTo(503);
		assertThat(String.valueOf(readiness.json())).contains("cluster={", "OUT_OF_SERVICE", "away: ");
		// Each event loop finds out by itself.
		Poll.until(() -> "all peers refuse node " + node + ": " + client.get(key), TOLD_DEADLINE, () -> {
			String replicas = String.valueOf(client.get(key).json().get("replicas"));
			return replicas.contains("outcome=refused") && !replicas.contains("outcome=away");
		});
		for (Answer answer : List.of(client.get(key), client.put(key, "mixed"), client.delete(key))) {
			EntityApiIT.assertProblem(answer, 504);
			Map<String, Object> problem = answer.json();
			assertThat(problem).as(answer.toString()).containsEntry("outcome", "not-applied");
			assertThat(String.valueOf(problem.get("replicas"))).contains("refused");
		}
	}

	private static void assertWorks(int node) {
		KvorumClient client = cluster.client(node);
		assertThat(client.exchange("GET", "/actuator/health/readiness").status()).isEqualTo(200);
		String key = "works at " + node;
		assertThat(client.put(key, "value").status()).isEqualTo(201);
		assertThat(client.get(key).text()).isEqualTo("value");
		assertThat(client.delete(key).status()).isEqualTo(202);
		assertThat(client.get(key).status()).isEqualTo(404);
	}

	private static void assertUnchanged(String key) {
		for (int node : cluster.nodes()) {
			assertThat(cluster.client(node).get(key).text()).as("at node %d", node).isEqualTo("before");
		}
	}

}
