package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

import io.kvorum.testing.Answer;
import io.kvorum.testing.CassandraNodes;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.NodeSpec;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RecordedClients;
import io.kvorum.testing.RecordedClients.Habits;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Gateways in front of three nodes of Cassandra. */
@Tag("cassandra")
@DisplayName("Gateways to Cassandra")
class CassandraGatewayIT {

	private static final String KEYSPACE = "kvorum";

	private static final int SECONDS = Integer.getInteger("kvorum.test.chaos.seconds", 40);

	private static final long SEED = Long.getLong("kvorum.test.chaos.seed", System.nanoTime());

	private static final int CLIENTS = 8;

	/** In an expression of the dashboard. */
	private static final Pattern METER = Pattern.compile("(\\w+)\\{job");

	private static final String USABLE = "kvorum_gateway_usable";

	private static final String UNKNOWN = "unknown";

	/** A gateway notices that nodes come and go by its driver's connections. */
	private static final Duration NOTICED = Duration.ofSeconds(60);

	private static @Nullable CassandraNodes started;

	@RegisterExtension
	final Nodes gateways = new Nodes("kvorum.engine=cassandra",
			"spring.cassandra.local-datacenter=" + CassandraNodes.DATACENTER, "spring.netty.leak-detection=simple",
			// Three nodes of Cassandra share the cores of this machine.
			"kvorum.replication.read-timeout=5s", "kvorum.replication.write-timeout=5s");

	@BeforeAll
	static void start() throws IOException, InterruptedException {
		started = CassandraNodes.start(3, Path.of("target", "it", "CassandraGatewayIT-servers").toAbsolutePath());
		cassandra().createSchema(KEYSPACE, 3);
	}

	@AfterAll
	static void stop() {
		if (started != null) {
			started.close();
		}
	}

	@AfterEach
	void heal() throws IOException, InterruptedException {
		cassandra().heal();
	}

	private static CassandraNodes cassandra() {
		if (started == null) {
			throw new IllegalStateException("Cassandra has not started");
		}
		return started;
	}

	private NodeSpec spec(String... properties) {
		return this.gateways.spec()
			.with("spring.cassandra.contact-points=" + cassandra().contactPoints())
			.with(properties);
	}

	private KvorumClient gateway(String... properties) throws InterruptedException {
		return this.gateways.start(spec(properties)).client().withPatience(NOTICED);
	}

	@Test
	@DisplayName("each level reads what it has written, through either gateway, and says what it was")
	void levels() throws InterruptedException {
		KvorumClient one = gateway();
		KvorumClient other = gateway();
		for (String level : List.of("", "&replicas=2/3", "&replicas=3/3", "&replicas=1/3")) {
			String target = "/v0/entity?id=level" + level.replace("&replicas=", "-") + level;
			String consistency = level.contains("1/3") ? "eventual" : "linearizable";
			Answer put = one.exchange("PUT", target);
			assertThat(put.status()).isEqualTo(201);
			Answer get = level.contains("1/3") ? readInTheEnd(other, target) : other.exchange("GET", target);
			assertThat(get.status()).as(level).isEqualTo(200);
			assertThat(get.header("ETag")).isEqualTo(put.header("ETag"));
			assertThat(get.header("Kvorum-Consistency")).isEqualTo(consistency);
			assertThat(one.exchange("DELETE", target).status()).isEqualTo(202);
			assertThat(other.exchange("GET", target.replace("1/3", "3/3")).status()).isEqualTo(404);
		}
		assertThat(one.exchange("PUT", "/v0/entity?id=relaxed", "Kvorum-Consistency", "eventual").status())
			.isEqualTo(201);
		Answer relaxed = readInTheEnd(other, "/v0/entity?id=relaxed", "Kvorum-Consistency", "eventual");
		assertThat(relaxed.header("Kvorum-Consistency")).isEqualTo("eventual");
		assertThat(other.putWith("relaxed", "new", "If-Match", relaxed.header("ETag")).status()).isEqualTo(201);
	}

	/**
	 * Reads until there is a value. Another replica may be asked than the one that has
	 * acknowledged the write.
	 */
	private static Answer readInTheEnd(KvorumClient client, String target, String... headers)
			throws InterruptedException {
		AtomicReference<Answer> last = new AtomicReference<>(client.exchange("GET", target, headers));
		Poll.until(() -> target + " is not read: " + last.get().status(), NOTICED, () -> {
			last.set(client.exchange("GET", target, headers));
			return last.get().status() == 200;
		});
		return last.get();
	}

	@Test
	@DisplayName("each meter that the dashboard reads is there")
	void dashboard() throws IOException, InterruptedException {
		KvorumClient gateway = gateway();
		assertThat(gateway.put("key", "value").status()).isEqualTo(201);
		assertThat(gateway.get("key").status()).isEqualTo(200);
		String meters = gateway.exchange("GET", "/actuator/prometheus").text();
		List<String> read = METER.matcher(Files.readString(Path.of("config/grafana/kvorum-gateway.json")))
			.results()
			.map(match -> match.group(1))
			.distinct()
			.toList();
		assertThat(read).hasSizeGreaterThan(15)
			.allSatisfy(meter -> assertThat(meters.lines().filter(line -> line.matches(meter + "[{ ].*")).findFirst())
				.as(meter)
				.isPresent());
	}

	@Test
	@DisplayName("numbers that are not those of the keyspace: 400; a range: 501; a value above 1 MB: 413, or no start")
	void refusals() throws InterruptedException {
		KvorumClient gateway = gateway();
		for (String replicas : List.of("1/1", "1/2", "2/2", "3/4", "0/3")) {
			EntityApiIT.assertProblem(gateway.get("key", "replicas=" + replicas), 400);
		}
		assertThat(gateway.exchange("GET", "/v0/entities?values=false").json()).containsEntry("type",
				"urn:kvorum:problem:ranges-not-supported");
		assertThat(gateway.put("large", new byte[1 << 20]).status()).isEqualTo(201);
		assertThat(gateway.get("large").body()).hasSize(1 << 20);
		EntityApiIT.assertProblem(gateway.put("larger", new byte[(1 << 20) + 1]), 413);
		assertThat(this.gateways.launch(spec("kvorum.api.max-value-size=2MB")).becomesReady()).isFalse();
	}

	@Test
	@DisplayName("with one node away the default serves, and a write to all may have happened; with two away it has not")
	void lostQuorum() throws IOException, InterruptedException {
		KvorumClient gateway = gateway();
		assertThat(gateway.put("key", "before").status()).isEqualTo(201);
		cassandra().kill9(3);
		// Cassandra proposes it to a quorum before it misses the third.
		Poll.until(() -> "a write misses a dead node", NOTICED,
				() -> UNKNOWN.equals(gateway.put("key", "all", "replicas=3/3").json().get("outcome")));
		Poll.until(() -> "a quorum serves", NOTICED, () -> gateway.put("key", "one away").status() == 201);
		assertThat(gateway.get("key").text()).isEqualTo("one away");
		EntityApiIT.assertProblem(gateway.get("key", "replicas=3/3"), 504);

		cassandra().kill9(2);
		// Until node 1 misses node 2 it proposes the write, and it closes the connection
		// on which that has timed out.
		Poll.until(() -> "a write is refused for a missing quorum: " + gateway.put("key", "two away").text(), NOTICED,
				() -> isRefused(gateway.put("key", "two away")));
		EntityApiIT.assertProblem(gateway.get("key"), 504);
		assertThat(gateway.get("key", "replicas=1/3").status()).isEqualTo(200);
		Answer ready = gateway.exchange("GET", "/actuator/health/readiness");
		assertThat(ready.status()).as("each gateway would say the same").isEqualTo(200);
		assertThat(ready.text()).contains("of the 2 replicas are there");

		cassandra().kill9(1);
		Poll.until(() -> "a gateway that reaches no node is not ready", NOTICED,
				() -> gateway.exchange("GET", "/actuator/health/readiness").status() == 503);
		assertThat(gateway.exchange("GET", "/actuator/health/liveness").status()).isEqualTo(200);
		assertThat(gateway.metric(USABLE)).isZero();
		assertThat(gateway.put("key", "all away").json()).containsEntry("outcome", "not-applied");

		cassandra().heal();
		Poll.until(() -> "it serves again by itself", NOTICED, () -> gateway.put("key", "back").status() == 201);
		Poll.until(() -> "it is ready again", NOTICED,
				() -> gateway.exchange("GET", "/actuator/health/readiness").status() == 200);
		assertThat(gateway.get("key").text()).isEqualTo("back");
	}

	private static boolean isRefused(Answer put) {
		return put.status() == 504 && "not-applied".equals(put.json().get("outcome"))
				&& Integer.valueOf(2).equals(put.json().get("required"));
	}

	@Test
	@DisplayName("a write to nodes that do not answer may have happened, and is never said not to have")
	void unknown() throws InterruptedException {
		KvorumClient gateway = gateway("kvorum.replication.write-timeout=1500ms");
		assertThat(gateway.put("key", "before").status()).isEqualTo(201);
		cassandra().pause(2);
		cassandra().pause(3);
		for (int i = 0; i < 4; i++) {
			Answer put = gateway.put("key", "paused " + i);
			EntityApiIT.assertProblem(put, 504);
			assertThat(put.json()).containsEntry("outcome", UNKNOWN);
		}
	}

	@Test
	@DisplayName("without its schema a gateway starts, says what it misses, and serves once that is there")
	void missingSchema() throws IOException, InterruptedException {
		NodeProcess gateway = this.gateways.launch(spec("spring.cassandra.keyspace-name=later"));
		assertThat(gateway.answers()).isTrue();
		Poll.until(() -> "it says what it misses", NOTICED,
				() -> gateway.client().exchange("GET", "/actuator/health/readiness").text().contains("keyspace later"));
		Answer get = gateway.client().get("key");
		EntityApiIT.assertProblem(get, 503);
		assertThat(get.text()).contains("keyspace later does not exist");
		assertThat(gateway.client().metric(USABLE)).isZero();
		cassandra().createSchema("later", 1);
		gateway.awaitReady();
		assertThat(gateway.client().metric(USABLE)).isOne();
		assertThat(gateway.client().put("key", "value").status()).isEqualTo(201);
		EntityApiIT.assertProblem(gateway.client().get("key", "replicas=2/3"), 400);
	}

	@Test
	@DisplayName("a factor above the number of nodes: what cannot be reached is said, the rest serves")
	void factorAboveTheNodes() throws IOException, InterruptedException {
		cassandra().createSchema("wide", 5);
		KvorumClient gateway = gateway("spring.cassandra.keyspace-name=wide");
		assertThat(gateway.put("key", "value").status()).isEqualTo(201);
		assertThat(gateway.get("key").text()).isEqualTo("value");
		EntityApiIT.assertProblem(gateway.get("key", "replicas=4/5"), 400);
		assertThat(gateway.put("key", "all", "replicas=5/5").json()).containsEntry("outcome", UNKNOWN);
	}

	@Test
	@DisplayName("no history that no register gives, through kills and silence of Cassandra's nodes")
	void histories() throws IOException, InterruptedException {
		System.out.printf("Chaos for %d s: -Dkvorum.test.chaos.seed=%d%n", SECONDS, SEED);
		List<NodeProcess> two = List.of(this.gateways.start(spec()), this.gateways.start(spec()));
		Random random = new Random(SEED);
		Map<Fault, Integer> made = new EnumMap<>(Fault.class);
		try (RecordedClients clients = RecordedClients.on(
				number -> two.get(number - 1).client().withPatience(Habits.HASTY.patience().multipliedBy(2)),
				List.of(1, 2), CLIENTS, Habits.HASTY, SEED)) {
			while (clients.now() < TimeUnit.SECONDS.toNanos(SECONDS) || made.size() < Fault.values().length) {
				letRun(1_000 + random.nextInt(3_000));
				Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
				int node = 1 + random.nextInt(3);
				made.merge(fault, 1, Integer::sum);
				switch (fault) {
					case KILL -> cassandra().kill9(node);
					case SILENCE -> cassandra().pause(node);
					case SILENCE_TWO -> {
						cassandra().pause(node);
						cassandra().pause(1 + node % 3);
					}
				}
				letRun(500 + random.nextInt(4_000));
				cassandra().heal();
			}
			for (NodeProcess gateway : two) {
				Poll.until(() -> "a gateway finds all nodes again: " + gateway.client().get("none").text(), NOTICED,
						() -> gateway.client().get("none", "replicas=3/3").status() == 404);
			}
			clients.stop();
			clients.readAll();
			System.out.printf("  %d keys, %s%n  faults: %s%n", clients.histories().size(), clients.counts(), made);

			assertThat(clients.wrongAnswers()).isEmpty();
			assertThat(clients.violations(Path.of("target", "it", "CassandraGatewayIT"))).isEmpty();
		}
	}

	/** A fault lasts, or there is none, for so long. */
	private static void letRun(int millis) throws InterruptedException {
		boolean never = new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
		assertThat(never).isFalse();
	}

	private enum Fault {

		KILL, SILENCE, SILENCE_TWO

	}

}
