package io.kvorum.process;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.testing.Cluster;
import io.kvorum.testing.DamagedTable;
import io.kvorum.testing.Generator;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.RangeAnswer;
import io.kvorum.testing.RangeEntry;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.SortedEntries;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("Ranges over damaged files: never silently short")
@LongTest
class RangeDamageIT {

	private static final RangeRequest ALL = RangeRequest.below("damage");

	@RegisterExtension
	static final Cluster cluster = new Cluster(3);

	private static final SortedEntries stored = new SortedEntries();

	/** On which node. */
	private final Map<DamagedTable, Integer> done = new HashMap<>();

	@BeforeAll
	static void putOnAll() {
		Generator generator = new Generator(1);
		for (int i = 0; i < 400; i++) {
			String key = "damage/%03d".formatted(i);
			byte[] value = generator.bytes(1000);
			assertThat(cluster.client(1 + i % 3).put(key, value, "replicas=3/3").status()).isEqualTo(201);
			stored.put(key, value);
		}
	}

	@AfterEach
	void repair() throws IOException {
		for (Map.Entry<DamagedTable, Integer> damage : this.done.entrySet()) {
			cluster.kill9(damage.getValue());
			damage.getKey().mend();
		}
	}

	@Test
	@DisplayName("a block of a node is damaged: its own range is broken off there, or 504 where it begins there, and counted; what lies before and behind is told; with blocks of the others damaged too, each elsewhere, the range of the cluster is whole, at every node")
	void eachElsewhere() throws InterruptedException, IOException {
		damage(Map.of(3, 0.5), 0);
		int port = cluster.node(3).port();
		assertThat(cluster.client(3).metric("kvorum_storage_corruption_total")).isZero();

		int before = 0;
		for (RangeRequest request : List.of(ALL.atNode(), ALL.atNode().lines())) {
			RangeAnswer answer = request.read(port);
			assertThat(answer.isWhole()).as(answer.toString()).isFalse();
			before = answer.entries().size();
			assertThat(before).isBetween(100, 300);
			assertThat(answer.entries()).isEqualTo(stored.all().subList(0, before));
		}
		assertThat(cluster.client(3).metric("kvorum_storage_corruption_total")).isPositive();
		String last = stored.keys().get(before - 1);
		assertThat(ALL.atNode().limit(before - 1).read(port).isWhole()).isTrue();
		EntityApiIT.assertProblem(RangeRequest.from(last + "\0").atNode().read(port).problem(), 504);
		List<RangeEntry> behind = stored.all().subList(before + 50, 400);
		RangeAnswer answer = RangeRequest.from(behind.getFirst().key()).to("damage0").atNode().read(port);
		assertThat(answer.entries()).isEqualTo(behind);
		assertThat(answer.isWhole()).isTrue();

		damage(Map.of(1, 0.2, 2, 0.8), 0);
		assertWholeAtAllNodes();
	}

	@Test
	@DisplayName("the same blocks of two of three nodes are damaged: the range of the cluster is broken off, at every node, also where the third node has them")
	void sameBlocksOfTwo() throws InterruptedException, IOException {
		damage(Map.of(2, 0.4, 3, 0.4), 0.2);

		for (int node : cluster.nodes()) {
			for (RangeRequest request : List.of(ALL, ALL.lines())) {
				RangeAnswer answer = request.read(cluster.node(node).port());
				assertThat(answer.isWhole()).as("at node %d: %s", node, answer).isFalse();
				assertThat(answer.status()).isIn(200, 504);
				assertThat(answer.entries()).isEqualTo(stored.all().subList(0, answer.entries().size()));
			}
		}
		RangeRequest within = RangeRequest.from(stored.keys().get(200)).to("damage0");
		EntityApiIT.assertProblem(within.read(cluster.node(1).port()).problem(), 504);
	}

	private void assertWholeAtAllNodes() {
		for (int node : cluster.nodes()) {
			for (RangeRequest request : List.of(ALL, ALL.lines())) {
				RangeAnswer answer = request.read(cluster.node(node).port());
				assertThat(answer.status()).as("at node %d: %s", node, answer).isEqualTo(200);
				assertThat(stored.differenceTo(answer.entries())).as("at node %d", node).isEmpty();
				assertThat(answer.isWhole()).as("at node %d", node).isTrue();
			}
		}
	}

	/**
	 * Damages the largest tables of nodes, each from this part of it on.
	 * @param part how much of it; 0 is one block
	 */
	private void damage(Map<Integer, Double> nodes, double part) throws InterruptedException, IOException {
		for (int node : nodes.keySet()) {
			cluster.stop(node);
		}
		for (Map.Entry<Integer, Double> from : nodes.entrySet()) {
			int node = from.getKey();
			this.done.put(DamagedTable.in(cluster.spec(node).data(), from.getValue(), part), node);
		}
		cluster.heal();
	}

}
