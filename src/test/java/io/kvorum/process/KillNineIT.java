package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.testing.Clients;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Ledger;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.NodeSpec;
import io.kvorum.testing.Nodes;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Kills at random points, always on the same directory, so that each round begins with
 * what the crashes before it left. {@code -Dkvorum.it.kills} and {@code -Dkvorum.it.seed}
 * set the number of kills and repeat a run.
 */
@DisplayName("kill -9")
class KillNineIT {

	private static final int KILLS = Integer.getInteger("kvorum.it.kills", 6);

	private static final long SEED = Long.getLong("kvorum.it.seed", System.nanoTime());

	private static final int KEYS = 10_000;

	@RegisterExtension
	final Nodes nodes = new Nodes();

	private final Random random = new Random(SEED);

	private final Ledger ledger = new Ledger();

	private final Clients clients = new Clients(this.ledger);

	@Test
	@DisplayName("in the middle of 10,000 PUTs, overwrites or DELETEs, again and again: each acknowledged one of all rounds is there")
	void underLoad() throws InterruptedException {
		System.out.printf("kill -9 under load: %d kills, -Dkvorum.it.seed=%d%n", KILLS, SEED);
		NodeProcess node = this.nodes.start();
		for (int round = 1; round <= KILLS; round++) {
			List<String> keys = keysOf(round);
			boolean isDelete = round % 3 == 0;
			int acknowledged = writeAndKill(node, keys, isDelete ? Ledger.ABSENT : round);
			System.out.printf("  round %d: %d %s acknowledged, %d writes of unknown outcome%n", round, acknowledged,
					isDelete ? "DELETEs" : "PUTs", this.ledger.unknown());

			node = this.nodes.start();
			this.clients.check(node.client(), List.copyOf(this.ledger.keys()));
		}
	}

	/** The same keys are put, overwritten and deleted; then come others. */
	private static List<String> keysOf(int round) {
		int batch = (round - 1) / 3;
		return IntStream.range(0, KEYS).mapToObj((i) -> "batch " + batch + " key " + i).toList();
	}

	private int writeAndKill(NodeProcess node, List<String> keys, int number) throws InterruptedException {
		int killAt = 1 + this.random.nextInt(KEYS);
		return this.clients.write(node.client(), keys, number, (acknowledged) -> {
			if (acknowledged == killAt) {
				node.kill9();
			}
		});
	}

	@Test
	@LongTest
	@DisplayName("while it starts and recovers: nothing that was acknowledged before is lost")
	void whileRecovering() throws InterruptedException {
		System.out.printf("kill -9 while recovering: -Dkvorum.it.seed=%d%n", SEED);
		NodeProcess first = this.nodes.start();
		List<String> keys = keysOf(1);
		assertThat(writeAndKill(first, keys, 1)).isPositive();

		for (int kill = 0; kill < 3; kill++) {
			NodeProcess recovering = this.nodes.launch(this.nodes.spec());
			recovering.exitsWithin(Duration.ofMillis(500 + this.random.nextInt(1500)));
			recovering.kill9();
		}

		this.clients.check(this.nodes.start().client(), List.copyOf(this.ledger.keys()));
	}

	@Test
	@DisplayName("and the temporary directory is as empty as before")
	void leavesNothingBehind(@TempDir Path temporary) throws InterruptedException, IOException {
		NodeProcess node = this.nodes
			.start(NodeSpec.ofTheJarOn(this.nodes.spec().data()).withJvm("-Djava.io.tmpdir=" + temporary));
		node.client().put("key", "value");
		node.kill9();

		try (Stream<Path> left = Files.walk(temporary)) {
			assertThat(left.filter(Files::isRegularFile)).isEmpty();
		}
	}

	@Test
	@DisplayName("between overwrites of one key: each gets an ETag that it never had before, and a restart keeps the last")
	void versionsNeverGoBack() throws InterruptedException {
		Set<String> seen = new HashSet<>();
		NodeProcess node = this.nodes.start();
		for (int restart = 0; restart < 4; restart++) {
			String last = seen.isEmpty() ? "" : etag(node.client());
			for (int write = 0; write < 100; write++) {
				var put = node.client().put("key", "value");
				String read = etag(node.client());
				// On an overloaded machine a write may be refused, or its outcome
				// unknown.
				if (put.status() == 201) {
					assertThat(read).as("it is what was written").isEqualTo(put.header("ETag"));
				}
				if (put.status() == 201 || !read.equals(last)) {
					assertThat(seen.add(read)).as("%s is new", read).isTrue();
				}
				last = read;
			}
			node.kill9();

			node = this.nodes.start();
			assertThat(etag(node.client())).isEqualTo(last);
		}
	}

	private static String etag(KvorumClient client) {
		String etag = client.get("key").header("ETag");
		assertThat(etag).isNotEmpty();
		return etag;
	}

}
