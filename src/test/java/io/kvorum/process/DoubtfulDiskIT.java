package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RecordedBoot;
import io.kvorum.testing.Together;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("A disk that lacks something, or is another node's, is noticed before its node votes")
@LongTest
class DoubtfulDiskIT {

	private static final Duration DEADLINE = Duration.ofSeconds(30);

	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "kvorum.storage.durability=os");

	@RegisterExtension
	final Nodes strangers = new Nodes();

	@Test
	@DisplayName("durability=os, a machine loses power and what its node and another one had acknowledged: with the third alone it does not answer with what was before; rebuilt from both, all tell the newest")
	void powerLossOfOne(@TempDir Path directory) throws InterruptedException, IOException {
		put("power", "one", "replicas=3/3");
		cluster.kill9(1);
		Path data = cluster.spec(1).data();
		Path synced = directory.resolve("synced");
		FileSystemUtils.copyRecursively(data, synced);
		assertThat(RecordedBoot.in(synced)).as("it has not stopped").isNotEmpty();
		cluster.start(1);
		cluster.awaitTogether();
		cluster.kill9(3);
		cluster.awaitAway(3);
		put("power", "two");

		cluster.kill9(1);
		cluster.kill9(2);
		FileSystemUtils.deleteRecursively(data);
		FileSystemUtils.copyRecursively(synced, data);
		RecordedBoot.setToAnother(data);
		cluster.start(3);
		cluster.start(1);
		Answer answer = cluster.client(3).get("power");
		assertThat(answer.status()).as(answer.toString()).isIn(503, 504);
		assertThat(cluster.convergence(1)).containsEntry("membership", "unsynced");
		assertThat(String.valueOf(cluster.convergence(1).get("doubt"))).contains(cluster.address(2));

		cluster.start(2);
		cluster.awaitTogether();
		for (int node : cluster.nodes()) {
			assertThat(cluster.client(node).get("power").text()).isEqualTo("two");
		}
	}

	@Test
	@DisplayName("durability=os, all machines lose power: the nodes are rebuilt from one another, and nobody is asked; after a stop there is nothing to rebuild")
	void powerLossOfAll() throws InterruptedException {
		put("power of all", "value", "replicas=3/3");
		for (int node : cluster.nodes()) {
			cluster.kill9(node);
			RecordedBoot.setToAnother(cluster.spec(node).data());
		}
		Together.run(3, i -> () -> {
			cluster.start(1 + i);
			return i;
		});
		cluster.awaitTogether();
		for (int node : cluster.nodes()) {
			assertThat(cluster.node(node).log()).contains("its machine ended before all that it had acknowledged");
			assertThat(cluster.client(node).get("power of all").text()).isEqualTo("value");
		}

		cluster.stop(1);
		assertThat(RecordedBoot.in(cluster.spec(1).data())).isEmpty();
	}

	@Test
	@DisplayName("a node with the directory of another one refuses to start, and says whose it is; taken all the same while that one runs, it does not vote, and both say why")
	void directoryOfAnotherNode() throws InterruptedException, IOException {
		cluster.awaitConverged();
		cluster.stop(2);
		cluster.wipe(3);
		FileSystemUtils.copyRecursively(cluster.spec(2).data(), cluster.spec(3).data());
		NodeProcess refused = this.strangers.launch(cluster.spec(3));
		assertThat(refused.awaitExit()).isNotZero();
		assertThat(refused.log()).contains("The store is that of the node %s, and this node is %s."
			.formatted(cluster.address(2), cluster.address(3)), "kvorum.cluster.accept-address=true");

		cluster.start(2);
		cluster.restartAs(3, cluster.spec(3).with("kvorum.cluster.accept-address=true"));
		String twins = "%s has the identity of %s".formatted(cluster.address(2), cluster.address(3));
		// Whatever else is doubtful of it: node 1 remembers another disk.
		Poll.until(() -> "node 3 does not vote: " + cluster.convergence(3), DEADLINE,
				() -> cluster.convergence(3).containsKey("doubt")
						&& String.valueOf(cluster.convergence(3).get("refused")).contains(twins));
		Poll.until(() -> "node 2 refuses node 3: " + cluster.convergence(2), DEADLINE,
				() -> String.valueOf(cluster.convergence(2).get("refused")).contains(cluster.address(3)));
		assertThat(cluster.isMember(2)).isTrue();
		cluster.wipe(3);
	}

	private static void put(String key, String value, String... parameters) {
		Answer answer = cluster.client(1).put(key, value, parameters);
		assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
	}

}
