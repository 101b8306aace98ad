package io.kvorum.coordination;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationObserver;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MissedTests {

	private static final int ROUNDS = 20_000;

	private static final Key KEY = Generator.key("key");

	@Test
	void aReplicaThatFailsOnOneThreadWhileAnotherDecidesIsReported() throws Exception {
		ScriptedCluster cluster = new ScriptedCluster(3, 3);
		Entry entry = Generator.live(cluster.version(0), "value");
		KeyWrite write = new KeyWrite(cluster.coordinator, cluster.view, Operation.PUT, KEY, new Replicas(2, 3),
				Condition.NONE, _ -> entry, null, Deadline.NONE, OperationObserver.NONE);
		Tally reached = Tally.awaiting(2, 3).add(0, Acknowledged.INSTANCE).add(1, Acknowledged.INSTANCE);
		try (ExecutorService other = Executors.newSingleThreadExecutor()) {
			for (int round = 1; round <= ROUNDS; round++) {
				Missed missed = new Missed(write, entry);
				CountDownLatch both = new CountDownLatch(2);
				Future<?> failing = other.submit(() -> {
					meet(both);
					missed.failed(2, Failed.unknown(Reason.DISCONNECTED, "gone"));
				});
				meet(both);
				missed.decided(reached);
				failing.get();
				assertThat(cluster.missed).as("reports after round %d", round).hasSize(round);
			}
		}
	}

	private static void meet(CountDownLatch both) {
		both.countDown();
		while (both.getCount() > 0) {
			Thread.onSpinWait();
		}
	}

}
