package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.Generator;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Ledger;
import io.kvorum.testing.Load;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RangeAnswer;
import io.kvorum.testing.RangeEntry;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.SortedEntries;
import io.kvorum.testing.Together;
import io.kvorum.testing.Watch;
import io.kvorum.testing.Workers;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** Nobody is asked to do anything, but where the disks of two of three are lost. */
@DisplayName("Nodes that were away, or lost their disk, become equal to the others by themselves")
class ConvergenceIT {

	private static final String ENDPOINT = "/actuator/convergence";

	private static final Duration SETTLE_DEADLINE = Duration.ofSeconds(30);

	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "kvorum.hints.replay-interval=1s", "kvorum.hints.max-size=1MB",
			"kvorum.anti-entropy.max-rate=1MB",
			"management.endpoints.web.exposure.include=health,info,metrics,prometheus,convergence",
			"management.endpoint.convergence.access=unrestricted");

	@Test
	@DisplayName("kill -9 of one of three under writes, restarted five seconds later: converged, and all three tell the same keys and versions")
	void killedUnderWrites() throws InterruptedException {
		cluster.awaitConverged();
		try (Load load = Load.on(cluster, List.of(1, 2), 2); Writers writers = new Writers("away", 1, 2)) {
			awaitPast(Duration.ofSeconds(1));
			cluster.kill9(3);
			awaitPast(Duration.ofSeconds(5));
			cluster.start(3);
			long back = System.nanoTime();
			List<Ledger> written = writers.stop();
			assertThat(load.stop()).isEmpty();
			assertThat(load.succeeded()).isPositive();
			assertThat(writers.count()).isPositive();
			cluster.awaitConverged();
			System.out.printf("away for 5 s under %d requests and %d writes: converged %d ms after it was ready%n",
					load.succeeded(), writers.count(), (System.nanoTime() - back) / 1_000_000);

			cluster.assertSameBelow("away");
			cluster.assertSameBelow("load");
			for (Ledger ledger : written) {
				for (String key : ledger.keys()) {
					cluster.nodes().forEach(node -> ledger.check(cluster.client(node), key));
				}
			}
		}
	}

	@Test
	@DisplayName("a client leaves while a replica owes its store, and that replica is killed: a hint is kept all the same, and handed over")
	void clientThatLeaves() throws InterruptedException {
		cluster.awaitConverged();
		String key = cluster.keyOn("left/at once", 1, 3);
		double left = clientsThatLeft(1);
		cluster.pause(3);
		try (RawHttp client = RawHttp.connect(cluster.node(1).port())) {
			client.send("PUT %s HTTP/1.1\r\nHost: k\r\nContent-Length: 4\r\n\r\nleft"
				.formatted(KvorumClient.entity(key, "replicas=2/2")));
			Poll.until(() -> "node 1 has stored it", SETTLE_DEADLINE,
					() -> cluster.client(1).get(key, "replicas=1/2").status() == 200);
			client.reset();
		}
		Poll.until(() -> "node 1 knows that the client has left", SETTLE_DEADLINE,
				() -> clientsThatLeft(1) == left + 1);
		cluster.kill9(3);

		Poll.until(() -> "a hint waits: " + hintsFor(3), SETTLE_DEADLINE, () -> hintsFor(3) == 1);
		cluster.start(3);
		Poll.until(() -> "it is handed over: " + hintsFor(3), SETTLE_DEADLINE, () -> hintsFor(3) == 0);
		assertThat(RangeRequest.below("left").atNode().read(cluster.node(3).port()).keys()).containsExactly(key);
	}

	@Test
	@DisplayName("a node's disk is lost under load: until it is rebuilt it votes for nothing and tells nothing of its own, every quorum read is right; then it has everything")
	void wiped() throws InterruptedException {
		SortedEntries stored = putOnAll("wiped", 1_000, 10_000);
		Map<String, RangeEntry> values = new TreeMap<>();
		stored.all().forEach(entry -> values.put(entry.key(), entry));
		String own = cluster.keyOn("of the third alone", 3);
		cluster.awaitConverged();

		try (Load load = Load.on(cluster, List.of(1, 2), 1);
				Watch watch = new Watch(stored.keys(), (key, answer) -> answer.status() == 200
						&& Objects.equals(RangeEntry.of(key, answer.body()), values.get(key)))) {
			watch.at(cluster, 1, 2);
			cluster.wipe(3);
			cluster.start(3);
			long ready = System.nanoTime();
			watch.at(cluster, 3).at(cluster, 3);
			assertThat(cluster.convergence(3)).containsEntry("membership", "lost").containsEntry("converged", false);
			for (int node : cluster.nodes()) {
				assertRebuilding(cluster.client(node).get(own, "replicas=1/1"));
			}
			RangeAnswer ofNode = RangeRequest.below("wiped").atNode().read(cluster.node(3).port());
			assertRebuilding(ofNode.problem());
			assertThat(cluster.convergence(3)).as("all of this was during the rebuild")
				.containsEntry("membership", "lost");

			cluster.awaitTogether();
			double seconds = (System.nanoTime() - ready) / 1e9;
			double bytes = cluster.others(3)
				.stream()
				.mapToDouble(node -> cluster.client(3)
					.metric("kvorum_repair_moved_size_bytes_total{direction=\"here\",peer=\"" + cluster.address(node)
							+ "\"}"))
				.sum();
			System.out.printf("rebuilt: %.1f MB until %.1f s after it was ready, %.1f MB/s; %d reads meanwhile%n",
					bytes / 1e6, seconds, bytes / 1e6 / seconds, watch.reads());
			assertThat(watch.stop()).isEmpty();
			assertThat(watch.reads()).isPositive();
			assertThat(load.stop()).isEmpty();
		}
		cluster.awaitConverged();
		assertThat(stored.differenceTo(RangeRequest.below("wiped").atNode().read(cluster.node(3).port()).entries()))
			.isEmpty();
		cluster.assertSameBelow("wiped");
	}

	@Test
	@LongTest
	@DisplayName("an old copy of a disk is put back: the node is rebuilt, what was deleted since stays deleted, and all are equal")
	void oldDisk(@TempDir Path directory) throws InterruptedException, IOException {
		SortedEntries stored = putOnAll("old disk", 100, 100);
		cluster.stop(3);
		Path data = cluster.spec(3).data();
		FileSystemUtils.copyRecursively(data, directory.resolve("copy"));
		cluster.start(3);
		cluster.awaitTogether();
		List<String> deleted = stored.keys().subList(0, 50);
		// Not at 3/3: on a busy machine one of three may be away for a moment.
		deleted.forEach(key -> assertThat(cluster.client(1).delete(key).status()).isEqualTo(202));
		putOnAll("old disk, later", 50, 100);
		cluster.wipe(3);
		cluster.start(3);
		cluster.awaitTogether();
		cluster.stop(3);
		FileSystemUtils.deleteRecursively(data);
		FileSystemUtils.copyRecursively(directory.resolve("copy"), data);

		// A longer write-timeout is a longer wait before it is rebuilt.
		cluster.restartWith(3, "kvorum.replication.write-timeout=6s");
		assertThat(cluster.convergence(3)).containsEntry("membership", "old");
		try (Watch watch = Watch.absent(deleted).at(cluster, 1, 2, 3)) {
			cluster.awaitTogether();
			cluster.awaitConverged();
			assertThat(watch.stop()).isEmpty();
		}
		assertThat(RangeRequest.below("old disk").atNode().read(cluster.node(3).port()).entries())
			.isEqualTo(stored.all().subList(50, 100));
		cluster.assertSameBelow("old disk");
		cluster.assertSameBelow("old disk, later");
	}

	@Test
	@DisplayName("hints: one for each key, however often it was overwritten; a kill -9 does not double or lose them; handed over when the node is back")
	void hints() throws InterruptedException {
		cluster.awaitConverged();
		cluster.kill9(3);
		cluster.awaitAway(3);
		for (int i = 0; i < 10; i++) {
			put(1, "hints/again and again", "value " + i);
		}
		for (int i = 0; i < 5; i++) {
			put(1, "hints/once " + i, "value");
		}
		Poll.until(() -> "six hints wait: " + hintsFor(3), SETTLE_DEADLINE, () -> hintsFor(3) == 6);

		cluster.kill9(1);
		cluster.start(1);
		assertThat(hintsFor(3)).isEqualTo(6);
		cluster.start(3);
		Poll.until(() -> "all are handed over: " + hintsFor(3), SETTLE_DEADLINE, () -> hintsFor(3) == 0);
		assertThat(cluster.client(1).metric(ofPeer("kvorum_hints_replayed_total", 3))).isEqualTo(6);
		cluster.awaitConverged();
		cluster.assertSameBelow("hints");
	}

	@Test
	@LongTest
	@DisplayName("more is missed than kvorum.hints.max-size: the rest is not kept, counted, and repaired")
	void tooManyHints() throws InterruptedException {
		cluster.kill9(3);
		cluster.awaitAway(3);
		Generator generator = new Generator(1);
		SortedEntries stored = new SortedEntries();
		for (int i = 0; i < 40; i++) {
			byte[] value = generator.bytes(50_000);
			stored.put("many hints/%02d".formatted(i), value);
			assertThat(cluster.client(1).put("many hints/%02d".formatted(i), value).status()).isEqualTo(201);
		}
		Poll.until(() -> "some are not kept", SETTLE_DEADLINE, () -> droppedFor(3) > 0);
		assertThat(cluster.client(1).metric(ofPeer("kvorum_hints_waiting_size_bytes", 3))).isBetween(500_000.0, 1.2e6);

		cluster.start(3);
		cluster.awaitTogether();
		cluster.awaitConverged();
		assertThat(
				stored.differenceTo(RangeRequest.below("many hints").atNode().read(cluster.node(3).port()).entries()))
			.isEmpty();
		cluster.assertSameBelow("many hints");
	}

	@Test
	@DisplayName("on demand: everything is compared with every peer at once, and the endpoint tells how that goes")
	void onDemand() throws InterruptedException {
		cluster.awaitConverged();
		Map<String, String> before = startedRepairs(1);
		assertThat(before).containsOnlyKeys(cluster.address(2), cluster.address(3));

		assertThat(repair(1).json()).containsKeys("converged", "membership", "peers");
		Poll.until(() -> "a repair with each peer began after " + before + ": " + startedRepairs(1), SETTLE_DEADLINE,
				() -> before.entrySet()
					.stream()
					.allMatch(
							peer -> startedRepairs(1).getOrDefault(peer.getKey(), "").compareTo(peer.getValue()) > 0));
		cluster.awaitConverged();
		assertThat(cluster.client(1).exchange("GET", ENDPOINT).json()).containsEntry("converged", true);
	}

	@Test
	@LongTest
	@DisplayName("two of three have lost their disks: they say that they wait for each other; kvorum.cluster.accept-loss on one ends it, and what the third has is served")
	void twoLost() throws InterruptedException {
		SortedEntries stored = putOnAll("two lost", 100, 100);
		cluster.wipe(1);
		cluster.wipe(2);
		Together.run(2, i -> () -> {
			cluster.start(1 + i);
			return i;
		});
		awaitLost(1, 2);
		awaitLost(2, 1);

		cluster.restartWith(1, "kvorum.cluster.accept-loss=true");
		cluster.awaitTogether();
		for (int node : cluster.nodes()) {
			assertThat(RangeRequest.below("two lost").read(cluster.node(node).port()).entries())
				.isEqualTo(stored.all());
			for (RangeEntry entry : stored.all()) {
				assertThat(RangeEntry.of(entry.key(), cluster.client(node).get(entry.key()).body())).isEqualTo(entry);
			}
		}
		cluster.awaitConverged();
		cluster.assertSameBelow("two lost");
	}

	private static void awaitLost(int node, int other) throws InterruptedException {
		Poll.until(() -> "node %d waits for node %d: %s".formatted(node, other, cluster.convergence(node)),
				SETTLE_DEADLINE, () -> {
					Map<String, Object> convergence = cluster.convergence(node);
					return "lost".equals(convergence.get("membership"))
							&& String.valueOf(convergence.get("doubt")).contains("[" + cluster.address(other) + "]");
				});
	}

	/** As many seconds are over. */
	static void awaitPast(Duration time) throws InterruptedException {
		long start = System.nanoTime();
		Poll.until(() -> "time passes", time.multipliedBy(2), () -> System.nanoTime() - start > time.toNanos());
	}

	private static SortedEntries putOnAll(String name, int count, int bytes) {
		SortedEntries stored = new SortedEntries();
		Generator generator = new Generator(name.hashCode());
		for (int i = 0; i < count; i++) {
			stored.put("%s/%04d".formatted(name, i), generator.bytes(bytes));
		}
		List<RangeEntry> entries = stored.all();
		int clients = 8;
		Together.run(clients, client -> () -> {
			for (int i = client; i < count; i += clients) {
				Answer answer = cluster.client(1 + i % 3)
					.put(entries.get(i).key(), entries.get(i).value(), "replicas=3/3");
				assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
			}
			return client;
		});
		return stored;
	}

	private static void put(int node, String key, String value, String... parameters) {
		Answer answer = cluster.client(node).put(key, value, parameters);
		assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
	}

	/** What waits at node 1. */
	private static double clientsThatLeft(int node) {
		return cluster.client(node)
			.metric("http_server_requests_seconds_count{error=\"none\",exception=\"none\",method=\"PUT\","
					+ "outcome=\"UNKNOWN\",status=\"UNKNOWN\",uri=\"/v0/entity\"}");
	}

	private static double hintsFor(int node) {
		return cluster.client(1).metric(ofPeer("kvorum_hints_waiting_hints", node));
	}

	private static double droppedFor(int node) {
		return cluster.client(1)
			.metric("kvorum_hints_dropped_total{cause=\"size\",peer=\"" + cluster.address(node) + "\"}");
	}

	private static String ofPeer(String name, int node) {
		return name + "{peer=\"" + cluster.address(node) + "\"}";
	}

	private static Answer repair(int node) {
		Answer answer = cluster.client(node).exchange("POST", ENDPOINT);
		assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
		return answer;
	}

	/** By the address of the peer. */
	private static Map<String, String> startedRepairs(int node) {
		Map<String, String> started = new TreeMap<>();
		if (cluster.client(node).exchange("GET", ENDPOINT).json().get("peers") instanceof Map<?, ?> peers) {
			peers.forEach((address, peer) -> {
				if (peer instanceof Map<?, ?> told && told.get("repair") instanceof Map<?, ?> repair) {
					started.put(String.valueOf(address), String.valueOf(repair.get("started")));
				}
			});
		}
		assertThat(started).hasSize(2);
		return started;
	}

	private static void assertRebuilding(Answer answer) {
		EntityApiIT.assertProblem(answer, 503);
		assertThat(answer.json()).as(answer.toString()).containsEntry("outcome", "not-applied");
		assertThat(String.valueOf(answer.json().get("replicas"))).contains(cluster.address(3), "rebuilding");
	}

	/** Clients that write and delete keys of their own, one at each of these nodes. */
	private static final class Writers implements AutoCloseable {

		private static final int KEYS = 500;

		private static final int MAX_PAUSE_MILLIS = 5;

		private final List<Ledger> ledgers = new ArrayList<>();

		private final Workers threads = new Workers();

		private final AtomicLong count = new AtomicLong();

		Writers(String name, Integer... nodes) {
			for (int node : nodes) {
				Ledger ledger = new Ledger();
				this.ledgers.add(ledger);
				this.threads.start(MAX_PAUSE_MILLIS, round -> run(name, node, round, ledger));
			}
		}

		private void run(String name, int node, int round, Ledger ledger) {
			String key = "%s/%d/%03d".formatted(name, node, round % KEYS);
			if (ledger.write(cluster.client(node), key, (round % 7 == 3) ? Ledger.ABSENT : 1 + round)) {
				this.count.incrementAndGet();
			}
		}

		/** How many were acknowledged. */
		long count() {
			return this.count.get();
		}

		List<Ledger> stop() throws InterruptedException {
			this.threads.stop();
			return this.ledgers;
		}

		@Override
		public void close() {
			this.threads.close();
		}

	}

}
