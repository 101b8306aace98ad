package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.kvorum.testing.Answer;
import io.kvorum.testing.CassandraNodes;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.CommandLine;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.NodeSpec;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RecordedClients;
import io.kvorum.testing.RecordedClients.Habits;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three nodes whose keys move to gateways in front of Cassandra, with clients running.
 */
@Tag("cassandra")
@DisplayName("Moving from nodes to gateways")
class MoveIT {

	private static final int CLIENTS = 8;

	private static final int KEYS = 3_000;

	private static final long SEED = Long.getLong("kvorum.test.chaos.seed", System.nanoTime());

	private static final Duration SWITCHED = Duration.ofSeconds(60);

	private static final String RETIRED = "kvorum.api.retired=true";

	@RegisterExtension
	static final Cluster cluster = new Cluster(3);

	@RegisterExtension
	final Nodes gateways = new Nodes("kvorum.engine=cassandra",
			"spring.cassandra.local-datacenter=" + CassandraNodes.DATACENTER, "spring.netty.leak-detection=simple",
			"kvorum.replication.read-timeout=5s", "kvorum.replication.write-timeout=5s");

	@Test
	@DisplayName("no history that no register gives, no key lost, versions and expiry kept; retired nodes answer gateways only")
	void move(@TempDir Path directory) throws IOException, InterruptedException {
		System.out.printf("Move with -Dkvorum.test.chaos.seed=%d%n", SEED);
		for (int i = 0; i < KEYS; i++) {
			assertThat(cluster.client(1 + i % 3).put("still/" + i, "value " + i).status()).isEqualTo(201);
		}
		Answer brief = cluster.client(1).exchange("PUT", "/v0/entity?id=brief&ttl=1h");
		Answer typed = cluster.client(1).exchange("PUT", "/v0/entity?id=typed", "Content-Type", "text/old");
		Answer expires = cluster.client(1).get("brief");
		try (CassandraNodes cassandra = CassandraNodes.start(1,
				Path.of("target", "it", "MoveIT-servers").toAbsolutePath())) {
			cassandra.createSchema("kvorum", 1);
			NodeSpec spec = this.gateways.spec()
				.with("spring.cassandra.contact-points=" + cassandra.contactPoints(),
						"kvorum.takeover.from=" + urls(cluster));
			List<NodeProcess> two = List.of(this.gateways.launch(spec), this.gateways.launch(spec));
			for (NodeProcess gateway : two) {
				assertThat(gateway.answers()).isTrue();
				Poll.until(() -> "it waits for the nodes", SWITCHED,
						() -> gateway.client().get("brief").text().contains("not retired"));
				assertThat(gateway.client().exchange("GET", "/actuator/health/readiness").status()).isEqualTo(503);
			}
			// Clients ask nodes and gateways alike; whoever does not serve says so.
			try (RecordedClients clients = RecordedClients.on(
					number -> (number <= 3) ? cluster.client(number).withPatience(Habits.HASTY.patience())
							: two.get(number - 4).client().withPatience(Habits.HASTY.patience().multipliedBy(2)),
					List.of(1, 2, 3, 4, 5), CLIENTS, Habits.HASTY, SEED)) {
				letRun(3_000);
				for (int node = 1; node <= 3; node++) {
					cluster.restartWith(node, RETIRED);
					letRun(1_000);
				}
				for (NodeProcess gateway : two) {
					gateway.awaitReady();
				}
				letRun(5_000);
				// A retired node may fail, also silently: the next one is asked.
				cluster.pause(1);
				for (int i = 0; i < 20; i++) {
					String key = "still/" + (KEYS - 1 - i);
					Poll.until(() -> "%s is taken over".formatted(key), SWITCHED,
							() -> two.getFirst().client().get(key).status() == 200);
				}
				cluster.kill9(1);
				CommandLine whileAway = migrate(two, directory.resolve("state.json"));
				assertThat(whileAway.exitCode()).as(whileAway.errors()).isEqualTo(3);
				assertThat(whileAway.printed()).contains("incomplete: " + cluster.address(1) + " was away");
				cluster.restartWith(1, RETIRED);
				Poll.until(() -> "node 1 is a member again", SWITCHED, () -> cluster.isMember(1));
				CommandLine whileClientsWrite = migrate(two, directory.resolve("state.json"));
				System.out.println("  " + whileClientsWrite.printed().strip());
				assertThat(whileClientsWrite.exitCode()).as(whileClientsWrite.errors()).isZero();
				clients.workAt(List.of(4, 5));
				clients.stop();
				clients.readAll();
				System.out.printf("  %d keys, %s%n", clients.histories().size(), clients.counts());
				assertThat(clients.wrongAnswers()).isEmpty();
				assertThat(clients.violations(Path.of("target", "it", "MoveIT"))).isEmpty();
			}
			KvorumClient gateway = two.getFirst().client();
			for (int i = 0; i < KEYS; i++) {
				assertThat(gateway.get("still/" + i).text()).isEqualTo("value " + i);
			}
			assertThat(gateway.get("typed").header("ETag")).isEqualTo(typed.header("ETag"));
			assertThat(gateway.get("typed").header("Content-Type")).isEqualTo("text/old");
			assertThat(gateway.get("brief").header("ETag")).isEqualTo(brief.header("ETag"));
			assertThat(gateway.get("brief").header("Expires")).isEqualTo(expires.header("Expires"));
			for (String target : List.of("/v0/entity?id=typed", "/v0/entities?values=false")) {
				Answer refused = cluster.client(2).exchange("GET", target);
				EntityApiIT.assertProblem(refused, 503);
				assertThat(refused.json()).containsEntry("outcome", "not-applied")
					.containsEntry("type", "urn:kvorum:problem:retired");
			}
			assertThat(cluster.client(2).exchange("PUT", "/v0/entity?id=typed", "Kvorum-Takeover", "true").status())
				.isEqualTo(503);
		}
	}

	private static String urls(Cluster cluster) {
		return String.join(",",
				cluster.nodes().stream().map(node -> "http://127.0.0.1:" + cluster.node(node).port()).toList());
	}

	private static CommandLine migrate(List<NodeProcess> gateways, Path state) throws InterruptedException {
		return CommandLine.run(new byte[0], "migrate", "--from", urls(cluster), "--to",
				String.join(",", gateways.stream().map(gateway -> "http://127.0.0.1:" + gateway.port()).toList()),
				"--state", state.toString());
	}

	private static void letRun(int millis) throws InterruptedException {
		boolean never = new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
		assertThat(never).isFalse();
	}

}
