package io.kvorum.client.it;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

import io.kvorum.client.KvorumClient;
import io.kvorum.client.WriteOptions;
import io.kvorum.test.KvorumExtension;
import io.kvorum.test.KvorumNode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("What a client is told, through kills, pauses and cut connections")
class LinearizableIT {

	private static final int THREADS = 12;

	private static final int ROUNDS = Integer.getInteger("kvorum.client.rounds", 4);

	/** By which a client that repeats what it must not has been seen. */
	private static final Duration MUTANT_DEADLINE = Duration.ofMinutes(2);

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(3).relayed();

	private final long seed = Long.getLong("kvorum.client.seed", System.nanoTime());

	private final Random random = new Random(this.seed);

	private final KvorumClient client = KvorumClient.builder(kvorum.urls()).build();

	@AfterEach
	void close() {
		this.client.close();
	}

	@Test
	@DisplayName("linearizable: writes without a name, of which those that may have happened are told")
	void unnamed() throws InterruptedException {
		check(UnaryOperator.identity());
	}

	@Test
	@DisplayName("linearizable: writes with names, which are repeated")
	void named() throws InterruptedException {
		check(WriteOptions::once);
	}

	private void check(UnaryOperator<WriteOptions> writes) throws InterruptedException {
		Workers workers = new Workers(this.client, THREADS, writes);
		for (int i = 0; i < ROUNDS; i++) {
			fault(kvorum.node(1 + this.random.nextInt(3)), i % 4);
		}
		workers.stop();
		System.out.printf("  %s (-Dkvorum.client.seed=%d)%n", workers, this.seed);
		assertThat(workers.errors()).isEmpty();
		assertThat(workers.violations()).isEmpty();
	}

	private void fault(KvorumNode node, int kind) throws InterruptedException {
		switch (kind) {
			case 0 -> {
				node.kill();
				letRun(1_000);
				node.start();
			}
			case 1 -> {
				node.pause();
				letRun(4_000);
				node.resume();
			}
			default -> {
				for (int i = 0; i < 20; i++) {
					KvorumNode any = kvorum.node(1 + this.random.nextInt(3));
					any.cutFromClients();
					letRun(20);
					any.heal();
					letRun(50);
				}
			}
		}
		letRun(500);
	}

	/** The workers work meanwhile. */
	private static void letRun(int millis) throws InterruptedException {
		boolean never = new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
		assertThat(never).isFalse();
	}

	@Test
	@DisplayName("seen as wrong: a client that repeats writes which may have happened, without a name")
	void mutant() throws InterruptedException {
		long end = System.nanoTime() + MUTANT_DEADLINE.toNanos();
		int rounds = 0;
		boolean isSeen = false;
		while (!isSeen && System.nanoTime() < end) {
			Workers workers = new Workers(this.client, THREADS, WriteOptions::repeatUnknown);
			fault(kvorum.node(1), 3);
			workers.stop();
			isSeen = !workers.violations().isEmpty();
			rounds++;
		}
		System.out.printf("  seen in round %d%n", rounds);
		assertThat(isSeen).isTrue();
	}

}
