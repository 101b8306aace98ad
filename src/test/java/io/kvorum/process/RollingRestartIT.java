package io.kvorum.process;

import java.time.Duration;
import java.util.List;

import io.kvorum.testing.Cluster;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.NodeProcess.Exit;
import io.kvorum.testing.Poll;
import io.kvorum.testing.load.LoadReport;
import io.kvorum.testing.load.LoadSettings;
import io.kvorum.testing.load.OpenLoad;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an operator does to nodes, under requests at a constant rate that none of it may
 * fail: {@code -Dkvorum.test.rolling.rate} sets how many a second, and
 * {@code src/test/scripts/rolling} does the same to nodes as users run them.
 */
@DisplayName("Restarted and replaced under load")
@LongTest
class RollingRestartIT {

	private static final int RATE = Integer.getInteger("kvorum.test.rolling.rate", 300);

	/** So many requests make a phase. */
	private static final int ENOUGH = 500;

	private static final Duration DEADLINE = Duration.ofSeconds(60);

	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "kvorum.hints.replay-interval=1s");

	@Test
	@DisplayName("one after the other by SIGTERM, each when all have converged: no request fails, every read sees the newest acknowledged write")
	void rollingRestart() throws InterruptedException {
		try (OpenLoad load = start("before")) {
			awaitMore(load);
			for (int node : cluster.nodes()) {
				load.phase("node %d stops".formatted(node));
				Exit exit = cluster.stop(node);
				assertThat(exit.after()).isLessThan(Duration.ofSeconds(10));
				load.phase("node %d is away and starts".formatted(node));
				awaitMore(load);
				cluster.start(node);
				load.phase("node %d converges".formatted(node));
				cluster.awaitConverged();
				awaitMore(load);
			}
			assertFlawless(load.stop());
		}
	}

	@Test
	@DisplayName("one killed, its directory emptied, started again, until it is rebuilt: no request fails but those that were cut off with it, every read sees the newest acknowledged write")
	void replacedByAnEmptyOne() throws InterruptedException {
		try (OpenLoad load = start("before")) {
			awaitMore(load);
			load.expectCuts(2);
			load.phase("node 3 is killed and emptied");
			cluster.wipe(3);
			awaitMore(load);
			load.expectNoCuts();
			load.phase("node 3 starts empty");
			cluster.start(3);
			load.phase("node 3 is rebuilt");
			cluster.awaitTogether();
			load.phase("node 3 converges");
			cluster.awaitConverged();
			awaitMore(load);
			assertFlawless(load.stop());
		}
	}

	private static OpenLoad start(String phase) {
		List<Integer> ports = cluster.nodes().stream().map(node -> cluster.node(node).port()).toList();
		return OpenLoad.start(LoadSettings.onPorts(ports, RATE), phase);
	}

	private static void awaitMore(OpenLoad load) throws InterruptedException {
		long enough = load.answered() + ENOUGH;
		Poll.until(() -> ENOUGH + " more requests are answered", DEADLINE, () -> load.answered() >= enough);
	}

	private static void assertFlawless(LoadReport report) {
		System.out.println(report);
		assertThat(report.failed()).as("%s", report).isZero();
		assertThat(report.violations()).isEmpty();
		assertThat(report.answered("before")).isGreaterThanOrEqualTo(ENOUGH);
	}

}
