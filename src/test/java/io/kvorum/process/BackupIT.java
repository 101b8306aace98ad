package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.Generator;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Load;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.NodeSpec;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.RangeAnswer;
import io.kvorum.testing.RangeEntry;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.SortedEntries;
import io.kvorum.testing.Together;
import io.kvorum.testing.Watch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** As the guide for operators says it. */
@DisplayName("Backups made under load are restored: one node among others that have gone on, and all nodes together")
@LongTest
class BackupIT {

	private static final String BACKUP = "/actuator/backup";

	/** Each node has its own, beside its store. */
	private static final String DIRECTORY = "${kvorum.storage.path}-backups";

	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "kvorum.hints.replay-interval=1s",
			"management.endpoints.web.exposure.include=health,info,metrics,prometheus,backup,topology",
			"management.endpoint.backup.access=unrestricted", "kvorum.backup.directory=" + DIRECTORY);

	@RegisterExtension
	final Nodes strangers = new Nodes();

	@Test
	@DisplayName("a node is backed up under load, killed, emptied and restored: it knows that its disk is old, is rebuilt, every read meanwhile is right, and all nodes tell the same")
	void oneNode() throws Exception {
		SortedEntries kept = new SortedEntries();
		Generator random = new Generator(1);
		List<String> all = IntStream.range(0, 300).mapToObj(i -> "one node/%03d".formatted(i)).toList();
		all.forEach(key -> put(1, key, random.bytes(500)));
		List<String> deleted = all.subList(0, 100);
		cluster.awaitConverged();

		Path backup;
		try (Load load = Load.on(cluster, List.of(1, 2), 1)) {
			backup = backup(3, "under-load");
			deleted.forEach(key -> assertThat(cluster.client(1).delete(key).status()).isEqualTo(202));
			for (String key : all.subList(100, 300)) {
				byte[] value = random.bytes(500);
				put(2, key, value);
				kept.put(key, value);
			}
			cluster.wipe(3);
			// A longer write-timeout is a longer wait before it is rebuilt.
			cluster.restartWith(3, "kvorum.backup.restore-from=" + backup, "kvorum.replication.write-timeout=6s");
			assertThat(cluster.convergence(3)).containsEntry("membership", "old");
			try (Watch watch = Watch.absent(deleted).at(cluster, 1, 2, 3)) {
				cluster.awaitTogether();
				assertThat(watch.stop()).isEmpty();
			}
			assertThat(load.stop()).isEmpty();
		}
		cluster.awaitConverged();
		for (int node : cluster.nodes()) {
			assertThat(kept.differenceTo(below("one node", node).entries())).as("at node %d", node).isEmpty();
		}
		cluster.assertSameBelow("one node");
		cluster.assertSameBelow("load");
		assertThat(statesOf(deleted.getFirst())).containsOnly("tombstone");
		assertThat(statesOf(all.getLast())).containsOnly("live");

		assertThat(cluster.client(3).metric("kvorum_backup_last_success_seconds")).isPositive();
		assertRefusesAFlippedByte(backup);
	}

	/** Asked for at a node that is none of the three yet, with the place of the third. */
	private void assertRefusesAFlippedByte(Path backup) throws Exception {
		Path copy = this.strangers.spec().data().resolveSibling("flipped");
		FileSystemUtils.copyRecursively(backup, copy);
		Path table = largestTable(copy);
		byte[] bytes = Files.readAllBytes(table);
		bytes[bytes.length / 2] ^= 1;
		Files.write(table, bytes);

		Path empty = this.strangers.spec().data();
		NodeSpec stranger = cluster.spec(3).with("kvorum.storage.path=" + empty, "kvorum.backup.restore-from=" + copy);
		NodeProcess node = this.strangers.launch(stranger);
		assertThat(node.awaitExit()).isNotZero();
		assertThat(node.log()).contains("is not what was written").contains("Nothing was restored");
		try (Stream<Path> files = Files.list(empty)) {
			assertThat(files).isEmpty();
		}
		FileSystemUtils.deleteRecursively(copy);
	}

	private static Path largestTable(Path backup) throws IOException {
		try (Stream<Path> files = Files.list(backup.resolve("store"))) {
			return files.filter(file -> file.toString().endsWith(".sst"))
				.max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
				.orElseThrow();
		}
	}

	@Test
	@DisplayName("all nodes are restored from backups of different moments under load: every write acknowledged before the first began is there, what was deleted stays deleted, and the cluster goes on")
	void wholeCluster() throws Exception {
		Generator random = new Generator(2);
		SortedEntries before = new SortedEntries();
		List<String> keys = IntStream.range(0, 300).mapToObj(i -> "whole/%03d".formatted(i)).toList();
		List<String> deleted = keys.subList(0, 100);
		deleted.forEach(key -> put(1, key, random.bytes(500)));
		cluster.awaitConverged();
		// The first node misses all of what follows, and is backed up before it gets it.
		cluster.silence(1);
		deleted.forEach(key -> assertThat(cluster.client(2).delete(key).status()).isEqualTo(202));
		for (String key : keys.subList(100, 300)) {
			byte[] value = random.bytes(500);
			put(3, key, value);
			before.put(key, value);
		}
		String newest = cluster.client(2).get(keys.getLast()).header("ETag");
		cluster.resume(1);

		List<Path> backups = new ArrayList<>();
		try (Load load = Load.on(cluster, List.of(2, 3), 1)) {
			for (int node : cluster.nodes()) {
				backups.add(backup(node, "all"));
				put(2, "later/" + node, random.bytes(100));
			}
			assertThat(load.stop()).isEmpty();
		}
		// The restore undoes this, also where a node comes back with a disk that has it.
		keys.subList(100, 110).forEach(key -> assertThat(cluster.client(2).delete(key).status()).isEqualTo(202));
		cluster.awaitConverged();
		List<String> identities = cluster.nodes().stream().map(BackupIT::identity).toList();
		cluster.kill9(3);
		Path old = cluster.spec(3).data().resolveSibling("old-disk");
		FileSystemUtils.copyRecursively(cluster.spec(3).data(), old);
		cluster.nodes().forEach(cluster::wipe);
		Together.run(3, i -> () -> {
			cluster.restartWith(1 + i, "kvorum.backup.restore-from=" + backups.get(i),
					"kvorum.backup.restore-whole-cluster=true");
			return i;
		});
		cluster.awaitTogether();

		for (int node : cluster.nodes()) {
			for (RangeEntry entry : before.all()) {
				assertThat(RangeEntry.of(entry.key(), cluster.client(node).get(entry.key()).body())).isEqualTo(entry);
			}
			deleted.forEach(key -> assertThat(cluster.client(node).get(key).status()).as(key).isEqualTo(404));
			assertThat(cluster.node(node).log()).doesNotContain("In quarantine");
		}
		assertThat(cluster.nodes().stream().map(BackupIT::identity)).doesNotContainAnyElementsOf(identities);
		Answer written = put(1, keys.getLast(), random.bytes(10));
		assertThat(written.header("ETag")).as("versions do not go back").isGreaterThan(newest);
		before.put(keys.getLast(), cluster.client(2).get(keys.getLast()).body());
		cluster.awaitConverged();
		for (int node : cluster.nodes()) {
			assertThat(before.differenceTo(below("whole", node).entries())).as("at node %d", node).isEmpty();
		}
		cluster.assertSameBelow("whole");
		cluster.assertSameBelow("later");
		cluster.assertSameBelow("load");

		cluster.wipe(3);
		FileSystemUtils.copyRecursively(old, cluster.spec(3).data());
		FileSystemUtils.deleteRecursively(old);
		cluster.restartAs(3, cluster.spec(3));
		cluster.awaitTogether();
		assertThat(cluster.node(3).log()).contains("In quarantine");
		cluster.awaitConverged();
		for (int node : cluster.nodes()) {
			assertThat(before.differenceTo(below("whole", node).entries())).as("at node %d", node).isEmpty();
		}
	}

	private static Path backup(int node, String name) {
		KvorumClient client = cluster.client(node).withPatience(Duration.ofMinutes(2));
		Answer answer = client.exchange("POST", BACKUP + "/" + name);
		assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
		assertThat(answer.json()).as(answer.toString()).containsEntry("verified", true);
		Path data = cluster.spec(node).data();
		return data.resolveSibling(data.getFileName() + "-backups").resolve(name);
	}

	private static Answer put(int node, String key, byte[] value) {
		Answer answer = cluster.client(node).put(key, value);
		assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
		return answer;
	}

	private static String identity(int node) {
		return String.valueOf(cluster.client(node).exchange("GET", "/v0/status").json().get("node"));
	}

	/** What each node says that it holds of a key, asked at the first. */
	private static List<String> statesOf(String key) {
		Answer answer = cluster.client(1).exchange("GET", "/actuator/topology?id=" + key.replace(" ", "+"));
		List<String> states = new ArrayList<>();
		if (answer.json().get("replicas") instanceof List<?> replicas) {
			replicas.forEach(replica -> states.add(String.valueOf(((Map<?, ?>) replica).get("state"))));
		}
		assertThat(states).as(answer.toString()).hasSize(3);
		return states;
	}

	private static RangeAnswer below(String name, int node) {
		RangeAnswer answer = RangeRequest.below(name).atNode().read(cluster.node(node).port());
		assertThat(answer.isWhole()).as("at node %d: %s", node, answer).isTrue();
		return answer;
	}

}
