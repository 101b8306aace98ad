package io.kvorum.process;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RangeEntry;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.Together;
import io.kvorum.testing.Watch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("Short intervals: what was deleted or overwritten goes and never comes back, nothing else is lost")
@LongTest
class ResurrectionIT {

	private static final int COUNT = 30;

	private static final Duration COLLECTED_DEADLINE = Duration.ofSeconds(60);

	/**
	 * Nodes that compare themselves each second are never all equal at the same moment.
	 */
	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "kvorum.gc-grace=10s", "kvorum.storage.collect-interval=500ms",
			"kvorum.anti-entropy.interval=5s", "kvorum.hints.window=1s", "kvorum.hints.replay-interval=1s");

	@Test
	@DisplayName("deleted while one of three was away for longer: no tombstone is collected before it is back, it is rebuilt, nothing ever comes back, and then all tombstones are collected")
	void resurrection() throws InterruptedException {
		List<String> keys = putOnAll("resurrection");
		cluster.kill9(3);
		cluster.awaitAway(3);
		Map<Integer, Double> before = new HashMap<>();
		cluster.others(3).forEach(node -> before.put(node, collected(node)));
		for (String key : keys) {
			assertThat(cluster.client(1).delete(key).status()).isEqualTo(202);
		}

		try (Watch watch = Watch.absent(keys).at(cluster, 1, 2)) {
			Poll.until(() -> "all tombstones are old, and wait for node 3", COLLECTED_DEADLINE,
					() -> cluster.others(3).stream().allMatch(node -> waiting(node) == COUNT));
			cluster.others(3).forEach(node -> assertThat(collected(node)).isEqualTo(before.get(node)));

			// A longer read-timeout is a longer wait before it is rebuilt.
			cluster.restartWith(3, "kvorum.replication.read-timeout=6s");
			watch.at(cluster, 3);
			assertThat(cluster.convergence(3)).containsEntry("membership", "absent");
			cluster.awaitTogether();
			long back = System.nanoTime();
			for (int node : cluster.nodes()) {
				Poll.until(
						() -> "all tombstones are collected at node %d: %.0f, %.0f wait".formatted(node,
								collected(node), waiting(node)),
						COLLECTED_DEADLINE, () -> collected(node) >= before.getOrDefault(node, 0.0) + COUNT);
			}
			System.out.printf(
					"tombstones are collected %d ms after the node is a member again; %d reads found nothing%n",
					(System.nanoTime() - back) / 1_000_000, watch.reads());
			cluster.awaitConverged();
			// Reads go on, for two more intervals of repairs.
			ConvergenceIT.awaitPast(Duration.ofSeconds(11));
			assertThat(watch.stop()).isEmpty();
			// Once each, but for one that a read gives back while it is removed.
			before.forEach((node, collected) -> assertThat(collected(node)).as("at node %d", node)
				.isLessThan(collected + 2 * COUNT));
		}
		for (int node : cluster.nodes()) {
			assertThat(heldBy(node, "resurrection")).as("at node %d", node).isEmpty();
		}
	}

	@Test
	@DisplayName("the whole cluster was off for longer: the first two go on, the third is rebuilt from them, and the data is there")
	void allAway() throws InterruptedException {
		List<String> keys = putOnAll("all away");
		cluster.nodes().forEach(cluster::kill9);
		ConvergenceIT.awaitPast(Duration.ofSeconds(11));
		Together.run(2, i -> () -> {
			cluster.start(1 + i);
			return i;
		});
		for (int node : cluster.others(3)) {
			Poll.until(() -> "node %d goes on with the other: %s".formatted(node, cluster.convergence(node)),
					COLLECTED_DEADLINE, () -> keys.getFirst().equals(cluster.client(node).get(keys.getFirst()).text()));
			assertThat(cluster.node(node).log()).doesNotContain("In quarantine");
		}

		cluster.start(3);
		cluster.awaitTogether();
		assertThat(cluster.node(3).log()).contains("In quarantine");
		for (int node : cluster.nodes()) {
			keys.forEach(key -> assertThat(cluster.client(node).get(key, "replicas=3/3").text()).isEqualTo(key));
			assertThat(RangeRequest.below("all away").atNode().read(cluster.node(node).port()).keys()).isEqualTo(keys);
		}
	}

	@Test
	@DisplayName("overwritten by a write to fewer replicas: those that are none any more let the key go, until it is written by default")
	void fewerCopies() throws InterruptedException {
		List<String> keys = putOnAll("fewer");
		for (String key : keys) {
			assertThat(cluster.client(2).put(key, "on one", "replicas=1/1").status()).isEqualTo(201);
		}

		for (int node : cluster.nodes()) {
			List<RangeEntry> own = keys.stream()
				.filter(key -> cluster.replicasOf(key, 1).contains(node))
				.map(key -> RangeEntry.of(key, "on one"))
				.toList();
			Poll.until(() -> "node %d holds what it is to, and has %s".formatted(node, heldBy(node, "fewer")),
					COLLECTED_DEADLINE, () -> heldBy(node, "fewer").equals(own));
		}
		cluster.awaitConverged();
		for (int node : cluster.nodes()) {
			// A majority may not have the one that does: it was asked to be on one.
			for (String asked : List.of("replicas=1/1", "replicas=3/3")) {
				keys.forEach(key -> assertThat(cluster.client(node).get(key, asked).text()).isEqualTo("on one"));
			}
		}
		for (String key : keys) {
			assertThat(cluster.client(2).put(key, "on all").status()).isEqualTo(201);
		}
		cluster.awaitConverged();
		for (int node : cluster.nodes()) {
			assertThat(heldBy(node, "fewer")).hasSize(COUNT);
			keys.forEach(key -> assertThat(cluster.client(node).get(key).text()).isEqualTo("on all"));
		}
	}

	private static List<RangeEntry> heldBy(int node, String name) {
		return RangeRequest.below(name).atNode().read(cluster.node(node).port()).entries();
	}

	private static List<String> putOnAll(String name) {
		List<String> keys = IntStream.range(0, COUNT).mapToObj(i -> "%s/%02d".formatted(name, i)).toList();
		for (String key : keys) {
			Answer answer = cluster.client(1).put(key, key, "replicas=3/3");
			assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
		}
		return keys;
	}

	private static double waiting(int node) {
		return cluster.client(node).metric("kvorum_tombstones_waiting{reason=\"repair\"}");
	}

	private static double collected(int node) {
		return cluster.client(node).metric("kvorum_tombstones_collected_total");
	}

}
