package io.kvorum.testcontainers;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.utility.DockerImageName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The containers are not started, so no Docker is needed. */
@DisplayName("A cluster of containers")
class KvorumClusterTests {

	private static final DockerImageName IMAGE = DockerImageName.parse("kvorum:0.1.0");

	private final KvorumCluster cluster = new KvorumCluster("kvorum:0.1.0");

	@Test
	@DisplayName("has three nodes, which know each other by name and share a secret")
	void three() {
		for (int number = 1; number <= 3; number++) {
			assertThat(this.cluster.node(number).getEnvMap())
				.containsEntry("KVORUM_CLUSTER_NODES", "http://node-1:9090,http://node-2:9090,http://node-3:9090")
				.containsEntry("KVORUM_CLUSTER_SELF", "http://node-%d:9090".formatted(number))
				.containsEntry("KVORUM_CLUSTER_SECRET", this.cluster.node(1).getEnvMap().get("KVORUM_CLUSTER_SECRET"));
		}
	}

	@Test
	@DisplayName("of one node is a node without peers")
	void one() {
		assertThat(new KvorumCluster(IMAGE, 1).node(1).getEnvMap()).isEmpty();
	}

	@ParameterizedTest
	@DisplayName("has from 1 to 9 nodes")
	@ValueSource(ints = { -1, 0, 10 })
	void count(int count) {
		assertThatIllegalArgumentException().isThrownBy(() -> new KvorumCluster(IMAGE, count))
			.withMessage("%d nodes: there can be from 1 to 9", count);
	}

	@ParameterizedTest
	@DisplayName("has no node of another number")
	@ValueSource(ints = { -1, 0, 4 })
	void noNode(int number) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.cluster.kill(number))
			.withMessage("There is no node %d: the numbers go from 1 to 3", number);
	}

	@Test
	@DisplayName("configures each of its nodes, but not what makes them a cluster")
	void configured() {
		this.cluster.configureEach((node) -> node.withProperty("kvorum.storage.durability", "os"));
		assertThat(this.cluster.node(3).getEnvMap()).containsEntry("KVORUM_STORAGE_DURABILITY", "os");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.cluster.node(1).withProperty("kvorum.cluster.nodes", "http://elsewhere:9090"))
			.withMessage("kvorum.cluster.nodes is set by the container");
	}

	@Test
	@DisplayName("that has not been started has no URLs, no logs, no faults, and nothing to stop")
	void notStarted() {
		this.cluster.node(1).stop();
		assertThatIllegalStateException().isThrownBy(this.cluster::urls).withMessageContaining("started");
		assertThat(this.cluster.logs()).isEmpty();
		assertThatDoesNotRun(() -> this.cluster.pause(2));
		assertThatDoesNotRun(() -> this.cluster.cut(2));
	}

	private static void assertThatDoesNotRun(ThrowingCallable fault) {
		assertThatIllegalStateException().isThrownBy(fault).withMessage("node-2 does not run");
	}

}
