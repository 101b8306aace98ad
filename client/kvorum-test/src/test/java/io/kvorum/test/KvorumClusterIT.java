package io.kvorum.test;

import java.net.URI;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Three nodes that are restored before each test. */
class KvorumClusterIT {

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(3);

	private static @Nullable KvorumCluster resolved;

	@BeforeAll
	static void resolve(KvorumCluster cluster) {
		resolved = cluster;
	}

	@AfterAll
	static void isStillThere(KvorumCluster cluster) {
		assertThat(cluster.node(1).isAlive()).isTrue();
	}

	@Test
	void twoNodesGoOnWithoutTheThird(KvorumCluster cluster) throws Exception {
		assertThat(cluster).isSameAs(resolved).isSameAs(kvorum.cluster());
		assertThat(Http.put(cluster.node(1), "a", "1")).isEqualTo(201);
		cluster.node(1).kill();
		assertThat(Http.get(cluster.node(2), "a")).isEqualTo("1");
		assertThat(Http.put(cluster.node(3), "a", "2")).isEqualTo(201);
		assertThat(Http.get(cluster.node(2), "a")).isEqualTo("2");
	}

	@Test
	void aNodeThatIsStartedAgainMakesAMajorityAtOnce() throws Exception {
		Http.put(kvorum.node(2), "b", "1");
		kvorum.node(1).kill();
		kvorum.node(1).start();
		kvorum.node(2).kill();
		assertThat(Http.get(kvorum.node(3), "b")).isEqualTo("1");
	}

	@Test
	@DisabledOnOs(OS.WINDOWS)
	void aPausedNodeIsNotMissed() throws Exception {
		Http.put(kvorum.node(3), "c", "1");
		kvorum.node(3).pause();
		assertThat(Http.get(kvorum.node(1), "c")).isEqualTo("1");
		assertThat(Http.get(kvorum.node(2), "c")).isEqualTo("1");
	}

	@Test
	void eachNodeHasAnAddress() {
		assertThat(kvorum.urls()).hasSize(3).doesNotHaveDuplicates().allMatch(KvorumClusterIT::isLoopback);
		assertThat(kvorum.cluster().nodes()).extracting(KvorumNode::number).containsExactly(1, 2, 3);
		assertThatIllegalArgumentException().isThrownBy(() -> kvorum.node(4)).withMessageContaining("1 to 3");
		assertThatIllegalStateException().isThrownBy(() -> kvorum.node(1).cutFromClients())
			.withMessageContaining("relayed");
	}

	private static boolean isLoopback(URI url) {
		return url.toString().matches("http://127\\.0\\.0\\.1:\\d+");
	}

}
