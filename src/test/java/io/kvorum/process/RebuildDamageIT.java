package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.DamagedTable;
import io.kvorum.testing.Generator;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.SortedEntries;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.rocksdb.RocksDBException;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("A lost disk is rebuilt from nodes that cannot read all that they have")
@LongTest
class RebuildDamageIT {

	private static final Duration REBUILD_DEADLINE = Duration.ofSeconds(60);

	@RegisterExtension
	static final Cluster cluster = new Cluster(3);

	private static final SortedEntries stored = new SortedEntries();

	/** By the node that has it. */
	private final Map<Integer, DamagedTable> damaged = new HashMap<>();

	private static int bytes = 800;

	/**
	 * The largest table of each node has all of them, and nothing that is overwritten.
	 */
	@BeforeEach
	void putOnAll() throws InterruptedException {
		cluster.awaitConverged();
		put("replicas=3/3");
	}

	/** Longer ones than before. */
	private static void put(String replicas) {
		bytes += 200;
		Generator generator = new Generator(bytes);
		for (int i = 0; i < 400; i++) {
			String key = "rebuild damage/%03d".formatted(i);
			byte[] value = generator.bytes(bytes);
			Answer answer = cluster.client(3).put(key, value, replicas);
			assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
			stored.put(key, value);
		}
	}

	@AfterEach
	void mend() throws IOException {
		for (Map.Entry<Integer, DamagedTable> damage : this.damaged.entrySet()) {
			cluster.kill9(damage.getKey());
			damage.getValue().mend();
		}
	}

	@Test
	@DisplayName("a block of the node that is asked first is damaged: the other one has what is in it, and the node is rebuilt wholly")
	void oneSource() throws InterruptedException, IOException {
		damage(1, 0);
		cluster.wipe(3);
		cluster.start(3);

		cluster.awaitTogether();
		// The other one may have given what is in the block before it was asked for here.
		assertThat(RangeRequest.below("rebuild damage").atNode().read(cluster.node(1).port()).isWhole()).isFalse();
		assertThat(cluster.client(1).metric("kvorum_storage_corruption_total")).isPositive();
		assertThat(stored
			.differenceTo(RangeRequest.below("rebuild damage").atNode().read(cluster.node(3).port()).entries()))
			.isEmpty();
	}

	@Test
	@DisplayName("a block of an index is damaged: the node is rebuilt wholly, the health of the damaged one asks for a restart, and after that its index is in order")
	void index() throws InterruptedException, IOException, RocksDBException {
		cluster.stop(1);
		DamagedTable.ofColumn(cluster.spec(1).data(), "index", 0, 0);
		cluster.start(1);
		cluster.wipe(3);
		cluster.start(3);

		cluster.awaitTogether();
		assertThat(stored
			.differenceTo(RangeRequest.below("rebuild damage").atNode().read(cluster.node(3).port()).entries()))
			.isEmpty();
		assertThat(cluster.storage(1).get("index")).asString().contains("Restart this node");

		cluster.stop(1);
		cluster.start(1);
		assertThat(cluster.storage(1)).doesNotContainKey("index");
		cluster.awaitConverged();
	}

	@Test
	@DisplayName("the same blocks of both others are damaged: the node stays in quarantine and its health names the partitions, no keys; what is written again is no longer missed")
	void bothSources() throws InterruptedException, IOException {
		damage(1, 0.1);
		damage(2, 0.1);
		cluster.wipe(3);
		cluster.start(3);

		Poll.until(() -> "the partitions are named: " + cluster.convergence(3), REBUILD_DEADLINE,
				() -> doubt().contains("cannot be read on the nodes that have them"));
		assertThat(doubt()).containsPattern("in the partitions \\[\\d+, ").doesNotContain("rebuild damage");
		assertThat(cluster.convergence(3)).containsEntry("membership", "lost");

		put("replicas=1/3");
		cluster.awaitTogether();
	}

	private static String doubt() {
		return String.valueOf(cluster.convergence(3).get("doubt"));
	}

	/**
	 * Damages a node's largest table, from its middle on, and sets the mark of a
	 * compaction that met the damage. Without it a compaction that begins later ends the
	 * process with 74.
	 */
	private void damage(int node, double part) throws InterruptedException, IOException {
		cluster.stop(node);
		Path data = cluster.spec(node).data();
		this.damaged.put(node, DamagedTable.in(data, 0.5, part));
		Files.writeString(data.resolve("DAMAGED"), "by a test");
		cluster.start(node);
	}

}
