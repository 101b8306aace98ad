package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.kvorum.testing.Cluster;
import io.kvorum.testing.RecordedClients;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Real nodes under faults, and the histories that their clients saw.
 * {@code -Dkvorum.test.chaos.seconds} sets how long at least, for all faults are made,
 * and {@code -Dkvorum.test.chaos.seed} in which order; where the operations fall between
 * them differs in each run.
 */
@DisplayName("Linearizable, through kills, silence, stops and cuts")
class LinearizabilityIT {

	private static final int SECONDS = Integer.getInteger("kvorum.test.chaos.seconds", 40);

	private static final long SEED = Long.getLong("kvorum.test.chaos.seed", System.nanoTime());

	private static final int CLIENTS_A_NODE = 4;

	private static final int CUTS = 5;

	private static final Duration FIRST_SUCCESS_BOUND = Duration.ofSeconds(5);

	private static final Duration AFTER_KILL = Duration.ofSeconds(2);

	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "spring.netty.leak-detection=simple");

	private final Random random = new Random(SEED);

	private final Map<Fault, Integer> made = new EnumMap<>(Fault.class);

	private long connectionsCut;

	/** Which node was killed when, while the others were there. */
	private final List<Kill> kills = new ArrayList<>();

	@Test
	@DisplayName("no history that no register gives, no acknowledged write lost, nothing seen of what was not applied")
	void histories() throws InterruptedException, IOException {
		System.out.printf("Chaos for %d s: -Dkvorum.test.chaos.seed=%d%n", SECONDS, SEED);
		try (RecordedClients clients = RecordedClients.on(cluster, CLIENTS_A_NODE, SEED)) {
			makeFaults(clients);
			cluster.heal();
			clients.stop();
			clients.readAll();
			report(clients);

			assertThat(clients.wrongAnswers()).isEmpty();
			for (Kind kind : Kind.values()) {
				assertThat(clients.latencies(it -> it.kind() == kind && it.outcome() == Outcome.DONE)).as("%s", kind)
					.hasSizeGreaterThan(50);
			}
			assertThat(clients.latencies(it -> it.condition() != null && it.outcome() == Outcome.DONE))
				.as("conditional writes")
				.hasSizeGreaterThan(50);
			assertThat(clients.violations(Path.of("target", "it", "LinearizabilityIT"))).isEmpty();
			assertNoErrorsAreLogged();
			for (Kill kill : this.kills) {
				assertThat(clients.firstSuccess(kill.at, cluster.others(kill.node))).isLessThan(FIRST_SUCCESS_BOUND);
			}
		}
	}

	private static void assertNoErrorsAreLogged() throws InterruptedException {
		for (int node : cluster.nodes()) {
			assertThat(cluster.wholeLog(node).lines()).as("node %d", node)
				.noneMatch(line -> line.contains("ERROR") || line.contains("LEAK"));
		}
	}

	private void makeFaults(RecordedClients clients) throws InterruptedException {
		List<Fault> next = new ArrayList<>();
		while (clients.now() < TimeUnit.SECONDS.toNanos(SECONDS) || this.made.size() < Fault.values().length) {
			if (next.isEmpty()) {
				next.addAll(List.of(Fault.values()));
				Collections.shuffle(next, this.random);
			}
			letRun(300, 1_500);
			Fault fault = next.removeLast();
			List<Integer> nodes = new ArrayList<>(cluster.nodes());
			Collections.shuffle(nodes, this.random);
			make(fault, nodes.get(0), nodes.get(1), clients);
			cluster.heal();
		}
	}

	private void make(Fault fault, int one, int two, RecordedClients clients) throws InterruptedException {
		this.made.merge(fault, 1, Integer::sum);
		switch (fault) {
			case KILL -> {
				this.kills.add(new Kill(one, clients.now()));
				cluster.kill9(one);
				letRun(100, 2_500);
			}
			case KILL_TWO -> {
				cluster.kill9(one);
				cluster.kill9(two);
				letRun(100, 1_000);
			}
			case STOP -> {
				cluster.stop(one);
				letRun(100, 1_000);
			}
			case SILENCE_BRIEFLY -> {
				cluster.pause(one);
				letRun(100, 900);
			}
			case SILENCE -> {
				cluster.pause(one);
				letRun(1_500, 4_000);
			}
			case SILENCE_TWO -> {
				cluster.pause(one);
				letRun(0, 300);
				cluster.pause(two);
				letRun(500, 3_000);
			}
			case CUT -> {
				for (int i = 0; i < CUTS; i++) {
					this.connectionsCut += cluster.cut(1 + this.random.nextInt(3));
					letRun(20, 700);
				}
			}
		}
	}

	/** A fault lasts, or there is none, for so long. */
	private void letRun(int fromMillis, int toMillis) throws InterruptedException {
		boolean never = new CountDownLatch(1).await(this.random.nextInt(fromMillis, toMillis), TimeUnit.MILLISECONDS);
		assertThat(never).isFalse();
	}

	private void report(RecordedClients clients) {
		System.out.printf("  %d keys, %s%n  faults: %s, with %d connections cut%s%n", clients.histories().size(),
				clients.counts(), this.made, this.connectionsCut,
				(this.connectionsCut == 0) ? ": not tested, \"ss --kill\" cannot here" : "");
		for (Kill kill : this.kills) {
			List<Integer> others = cluster.others(kill.node);
			System.out.printf("  node %d killed: first success at each of the others after %s ms; in %d s %s%n",
					kill.node,
					others.stream().map(node -> clients.firstSuccess(kill.at, List.of(node)).toMillis()).toList(),
					AFTER_KILL.toSeconds(), clients.summary(kill.at, AFTER_KILL, others));
		}
	}

	private enum Fault {

		KILL, KILL_TWO, STOP, SILENCE_BRIEFLY, SILENCE, SILENCE_TWO, CUT

	}

	private record Kill(int node, long at) {
	}

}
