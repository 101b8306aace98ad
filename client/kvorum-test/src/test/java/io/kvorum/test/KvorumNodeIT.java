package io.kvorum.test;

import java.net.ConnectException;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** One node, with a relay. */
class KvorumNodeIT {

	private static final Duration SHORT = Duration.ofMillis(500);

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(1)
		.property("kvorum.storage.durability", "os")
		.relayed();

	private final KvorumNode node = kvorum.node(1);

	@Test
	void aValueIsThereAfterAKillAndAStop() throws Exception {
		assertThat(Http.put(this.node, "a", "1")).isEqualTo(201);
		this.node.kill();
		assertThat(this.node.isAlive()).isFalse();
		assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> Http.get(this.node, "a"));
		this.node.start();
		assertThat(Http.get(this.node, "a")).isEqualTo("1");
		this.node.restart();
		assertThat(Http.get(this.node, "a")).isEqualTo("1");
		assertThat(this.node.data()).isDirectoryContaining("glob:**");
		assertThat(this.node.log()).contains("node-1.log").contains("Ready: HTTP");
	}

	@Test
	@DisabledOnOs(OS.WINDOWS)
	void aPausedNodeIsSilentAndGoesOn() throws Exception {
		Http.put(this.node, "b", "2");
		this.node.pause();
		assertThat(this.node.isAlive()).isTrue();
		assertThatExceptionOfType(HttpTimeoutException.class).isThrownBy(() -> Http.get(this.node, "b", SHORT));
		this.node.resume();
		assertThat(Http.get(this.node, "b")).isEqualTo("2");
	}

	@Test
	void aNodeThatIsCutFromClientsIsSilentUntilItIsHealed() throws Exception {
		Http.put(this.node, "c", "3");
		this.node.cutFromClients();
		assertThatExceptionOfType(HttpTimeoutException.class).isThrownBy(() -> Http.get(this.node, "c", SHORT));
		this.node.heal();
		assertThat(Http.get(this.node, "c")).isEqualTo("3");
	}

	@Test
	@Timeout(60)
	void aNodeThatEndsByItselfIsNotRestoredSilently() throws Exception {
		ProcessHandle process = ProcessHandle.current()
			.children()
			.filter((child) -> child.info().commandLine().orElse("").contains(this.node.data().toString()))
			.findFirst()
			.orElseThrow();
		process.destroyForcibly();
		process.onExit().get();
		while (this.node.isAlive()) {
			// The same end is told to the handle and to the node by different threads.
			Thread.onSpinWait();
		}
		assertThatIllegalStateException().isThrownBy(() -> kvorum.cluster().restore())
			.withMessageContaining("has ended by itself");
		this.node.start();
	}

	@Test
	void aNodeThatRunsIsNotStartedAgain() {
		assertThatIllegalStateException().isThrownBy(this.node::start).withMessageContaining("runs already");
	}

	@Test
	void aNodeThatRefusesToStartSaysWhy(@TempDir Path directory) {
		KvorumCluster.Builder wrong = KvorumCluster.builder()
			.directory(directory)
			.property("kvorum.storage.cache-size", "lots");
		assertThatIllegalStateException().isThrownBy(wrong::start)
			.withMessageContainingAll("node 1", "has ended with exit code 1", "kvorum.storage.cache-size");
	}

	@Test
	void whatTheClusterSetsCannotBeSet() {
		assertThatIllegalArgumentException().isThrownBy(() -> KvorumCluster.builder().property("server.port", "8080"));
		assertThatIllegalArgumentException().isThrownBy(() -> KvorumCluster.builder().nodes(10))
			.withMessageContaining("1 to 9");
	}

}
