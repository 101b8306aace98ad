package io.kvorum.process;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Cluster;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Workers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What users build on conditions, on real nodes: a key that is created once, a counter, a
 * lock with fencing tokens. {@code -Dkvorum.test.chaos.seconds} sets three times how
 * long, {@code -Dkvorum.test.chaos.seed} in which order faults are made.
 */
@DisplayName("Conditions on three nodes, through kills, silence and cuts")
class CompareAndSetIT {

	private static final int SECONDS = Integer.getInteger("kvorum.test.chaos.seconds", 40) / 3;

	private static final long SEED = Long.getLong("kvorum.test.chaos.seed", System.nanoTime());

	private static final Duration PATIENCE = Duration.ofSeconds(3);

	private static final long MAX_HOLD_NANOS = 10_000_000;

	@RegisterExtension
	static final Cluster cluster = new Cluster(3, "spring.netty.leak-detection=simple",
			"management.endpoints.web.exposure.include=health,topology");

	private final Random random = new Random(SEED);

	@Test
	@DisplayName("of 100 clients that create one key exactly one gets 201, and it is its value that stays")
	void createOnce() throws InterruptedException {
		for (int round = 0; round < 5; round++) {
			String key = "once " + round;
			List<Answer> answers = together(100,
					client -> client(client).putWith(key, "by " + client, "If-None-Match", "*"));
			List<Integer> created = new ArrayList<>();
			for (int client = 0; client < answers.size(); client++) {
				int status = answers.get(client).status();
				assertThat(status).isIn(201, 412, 503);
				if (status == 201) {
					created.add(client);
				}
			}

			assertThat(created).hasSize(1);
			Answer answer = cluster.client(1).get(key);
			assertThat(answer.text()).isEqualTo("by " + created.getFirst());
			assertThat(answer.header("ETag")).isEqualTo(answers.get(created.getFirst()).header("ETag"));
			assertThat(answers).filteredOn(other -> other.status() == 412)
				.allMatch(other -> other.header("ETag").equals(answer.header("ETag")));
		}
	}

	@Test
	@DisplayName("the endpoint that inspects a key shows the promise, the ETag and the lineage of its entry at each node")
	void inspected() {
		String created = cluster.client(1).putWith("inspected", "1", "If-None-Match", "*").header("ETag");
		String written = cluster.client(2).putWith("inspected", "2", "If-Match", created).header("ETag");

		assertThat(cluster.client(3).get("inspected").header("ETag")).isEqualTo(written);
		Answer found = cluster.client(3).exchange("GET", "/actuator/topology?id=inspected");
		assertThat(JsonMapper.shared().readTree(found.body()).path("replicas")).hasSize(3)
			.filteredOn(replica -> etagOf(replica).equals(written))
			.as("a majority of %s", found)
			.hasSizeGreaterThan(1)
			.allSatisfy(replica -> {
				assertThat(replica.path("promise")).isEqualTo(replica.path("version"));
				assertThat(replica.path("lineage").path("conditional").asBoolean()).isTrue();
				assertThat(etagOf(replica.path("lineage").path("ancestors").path(0))).isEqualTo(created);
			});
	}

	private static String etagOf(JsonNode node) {
		return '"' + node.path("identity").asString() + '"';
	}

	@Test
	@DisplayName("a counter that 64 clients increment has each success once, and at most all whose outcome is unknown")
	void counter() throws InterruptedException {
		System.out.printf("A counter for %d s: -Dkvorum.test.chaos.seed=%d%n", SECONDS, SEED);
		AtomicInteger done = new AtomicInteger();
		AtomicInteger unknown = new AtomicInteger();
		AtomicInteger contended = new AtomicInteger();
		Queue<String> wrong = new ConcurrentLinkedQueue<>();
		repeatThroughFaults(64, 150, client -> {
			switch (increment(client, "counter", wrong)) {
				case DONE -> done.incrementAndGet();
				case UNKNOWN -> unknown.incrementAndGet();
				case NOT_APPLIED -> contended.incrementAndGet();
			}
		});
		System.out.printf("  %d increments, %d of unknown outcome, %d not applied%n", done.get(), unknown.get(),
				contended.get());

		assertThat(wrong).isEmpty();
		assertThat(done.get()).isPositive();
		for (int node : cluster.nodes()) {
			assertThat(Integer.parseInt(cluster.client(node).get("counter").text())).isBetween(done.get(),
					done.get() + unknown.get());
		}
		assertNoErrorsAreLogged();
	}

	@Test
	@DisplayName("a lock is never held twice, and the tokens of its holders only grow")
	void lock() throws InterruptedException {
		Queue<Held> held = new ConcurrentLinkedQueue<>();
		Queue<String> wrong = new ConcurrentLinkedQueue<>();
		repeatThroughFaults(16, 30, client -> lockAndUnlock(client, held, wrong));
		List<Held> inOrder = new ArrayList<>(held);
		inOrder.sort((one, other) -> one.token.compareTo(other.token));
		System.out.printf("  %d times locked%n", inOrder.size());

		assertThat(wrong).isEmpty();
		assertThat(inOrder).isNotEmpty().extracting(Held::token).doesNotHaveDuplicates();
		for (int i = 1; i < inOrder.size(); i++) {
			// Who has the later token asked for the lock to the end after who has the
			// earlier one had begun to release it.
			assertThat(inOrder.get(i).acquiredBy).as("%s after %s", inOrder.get(i), inOrder.get(i - 1))
				.isGreaterThan(inOrder.get(i - 1).releasedFrom);
		}
	}

	@Test
	@DisplayName("of requests whose every second answer is lost, and that are repeated at other nodes, each is done once")
	void repeats() throws InterruptedException {
		System.out.printf("Repeats for %d s: -Dkvorum.test.chaos.seed=%d%n", SECONDS, SEED);
		AtomicInteger done = new AtomicInteger();
		AtomicInteger open = new AtomicInteger();
		Queue<String> wrong = new ConcurrentLinkedQueue<>();
		Repeats repeats = new Repeats(wrong);
		repeatThroughFaults(16, 30, client -> {
			switch (repeats.increment(client, "increments")) {
				case 201 -> done.incrementAndGet();
				case 412 -> {
					// Another client has incremented.
				}
				default -> open.incrementAndGet();
			}
			repeats.writeTwice(client);
		});
		System.out.printf("  %d increments, %d that stayed open, %d repeats%n", done.get(), open.get(),
				repeats.repeats.get());

		assertThat(wrong).isEmpty();
		assertThat(done.get()).isPositive();
		for (int node : cluster.nodes()) {
			assertThat(Integer.parseInt(cluster.client(node).get("increments").text())).isBetween(done.get(),
					done.get() + open.get());
		}
		assertNoErrorsAreLogged();
	}

	private Outcome increment(int client, String key, Queue<String> wrong) {
		try {
			Answer read = client(client).get(key);
			if (read.status() != 200 && read.status() != 404) {
				return Outcome.NOT_APPLIED;
			}
			boolean isThere = read.status() == 200;
			int next = isThere ? Integer.parseInt(read.text()) + 1 : 1;
			Answer written = isThere
					? client(client).putWith(key, String.valueOf(next), "If-Match", read.header("ETag"))
					: client(client).putWith(key, String.valueOf(next), "If-None-Match", "*");
			return outcomeOf(written, 201, wrong);
		}
		catch (UncheckedIOException ex) {
			return (ex.getCause() instanceof ConnectException) ? Outcome.NOT_APPLIED : Outcome.UNKNOWN;
		}
	}

	private void lockAndUnlock(int client, Queue<Held> held, Queue<String> wrong) {
		String key = "lock";
		String owner = client + " " + System.nanoTime();
		Answer locked;
		try {
			locked = client(client).putWith(key, owner, "If-None-Match", "*");
			if (outcomeOf(locked, 201, wrong) == Outcome.NOT_APPLIED) {
				return;
			}
		}
		catch (UncheckedIOException _) {
			locked = null;
		}
		String token = (locked != null && locked.status() == 201) ? locked.header("ETag") : tokenOf(client, owner);
		if (!token.isEmpty()) {
			long acquiredBy = System.nanoTime();
			hold();
			held.add(new Held(token, acquiredBy, System.nanoTime()));
			unlock(client, key, token, wrong);
		}
	}

	/** For so long that two holders at once are seen. */
	private static void hold() {
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_HOLD_NANOS));
	}

	/**
	 * The token of a lock whose request had an unknown outcome; empty if it is not ours.
	 */
	private String tokenOf(int client, String owner) {
		while (true) {
			try {
				Answer read = client(client + 1).get("lock");
				if (read.status() == 200 || read.status() == 404) {
					return read.text().equals(owner) ? read.header("ETag") : "";
				}
			}
			catch (UncheckedIOException _) {
				// Another node is asked.
			}
			client++;
		}
	}

	private void unlock(int client, String key, String token, Queue<String> wrong) {
		for (int node = client;; node++) {
			try {
				Answer released = client(node).deleteWith(key, "If-Match", token);
				if (released.status() == 202 || released.status() == 412) {
					return;
				}
				outcomeOf(released, 202, wrong);
			}
			catch (UncheckedIOException _) {
				// Released or not: it is tried again, and 412 says that it was.
			}
		}
	}

	private static Outcome outcomeOf(Answer answer, int success, Queue<String> wrong) {
		if (answer.status() == success) {
			return Outcome.DONE;
		}
		if (answer.status() != 412 && answer.status() != 503 && answer.status() != 504) {
			wrong.add(answer.toString());
		}
		return "not-applied".equals(answer.json().get("outcome")) ? Outcome.NOT_APPLIED : Outcome.UNKNOWN;
	}

	private static KvorumClient client(int number) {
		List<Integer> nodes = cluster.nodes();
		return cluster.client(nodes.get(number % nodes.size())).withPatience(PATIENCE);
	}

	/** Has clients repeat something, with pauses, while faults are made. */
	private void repeatThroughFaults(int clients, int maxPauseMillis, IntConsumer work) throws InterruptedException {
		try (Workers workers = new Workers()) {
			for (int i = 0; i < clients; i++) {
				int client = i;
				workers.start(maxPauseMillis, _ -> work.accept(client));
			}
			makeFaults();
			cluster.heal();
			workers.stop();
		}
	}

	private void makeFaults() throws InterruptedException {
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
		List<Fault> faults = new ArrayList<>();
		while (System.nanoTime() - end < 0) {
			if (faults.isEmpty()) {
				faults.addAll(List.of(Fault.values()));
				Collections.shuffle(faults, this.random);
			}
			letRun(300, 1_500);
			int node = cluster.nodes().get(this.random.nextInt(3));
			switch (faults.removeLast()) {
				case KILL -> cluster.kill9(node);
				case SILENCE -> cluster.pause(node);
				case CUT -> cluster.cut(node);
			}
			letRun(100, 2_000);
			cluster.heal();
		}
	}

	private void letRun(int fromMillis, int toMillis) throws InterruptedException {
		boolean never = new CountDownLatch(1).await(this.random.nextInt(fromMillis, toMillis), TimeUnit.MILLISECONDS);
		assertThat(never).isFalse();
	}

	private static <T> List<T> together(int number, IntFunction<T> work) throws InterruptedException {
		List<T> results = new ArrayList<>(Collections.nCopies(number, null));
		CountDownLatch start = new CountDownLatch(1);
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < number; i++) {
			int client = i;
			threads.add(Thread.ofVirtual().start(() -> {
				try {
					start.await();
					results.set(client, work.apply(client));
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}));
		}
		start.countDown();
		for (Thread thread : threads) {
			thread.join();
		}
		return results;
	}

	private static void assertNoErrorsAreLogged() throws InterruptedException {
		for (int node : cluster.nodes()) {
			assertThat(cluster.wholeLog(node).lines()).as("node %d", node)
				.noneMatch(line -> line.contains("ERROR") || line.contains("LEAK"));
		}
	}

	/** Clients that lose every second answer, and send the request again elsewhere. */
	private static final class Repeats {

		private static final int MOST = 40;

		private final Queue<String> wrong;

		private final AtomicInteger repeats = new AtomicInteger();

		Repeats(Queue<String> wrong) {
			this.wrong = wrong;
		}

		/** Increments a counter; returns the status, 0 if it stays open. */
		int increment(int client, String key) {
			Answer read = orNull(() -> client(client).get(key));
			if (read == null || (read.status() != 200 && read.status() != 404)) {
				return 412;
			}
			boolean isThere = read.status() == 200;
			String next = String.valueOf(isThere ? Integer.parseInt(read.text()) + 1 : 1);
			return untilAnswered(client, key, next, isThere ? "If-Match" : "If-None-Match",
					isThere ? read.header("ETag") : "*", "Idempotency-Key", UUID.randomUUID().toString());
		}

		/**
		 * Writes a key of this client's own twice, and repeats the first write at last.
		 */
		void writeTwice(int client) {
			String key = "own " + client;
			String first = UUID.randomUUID().toString();
			String second = UUID.randomUUID().toString();
			if (untilAnswered(client, key, first, "Idempotency-Key", first) == 201
					&& untilAnswered(client, key, second, "Idempotency-Key", second) == 201
					&& untilAnswered(client, key, first, "Idempotency-Key", first) == 201) {
				Answer read = orNull(() -> client(client).get(key));
				if (read != null && read.status() == 200 && !read.text().equals(second)) {
					this.wrong.add("a repeat has brought an old value back");
				}
			}
		}

		private int untilAnswered(int client, String key, String value, String... headers) {
			String first = "";
			for (int repeat = 0; repeat < MOST; repeat++) {
				int node = client + repeat;
				Answer answer = orNull(() -> client(node).putWith(key, value, headers));
				if (answer != null && (answer.status() == 201 || answer.status() == 412)) {
					String outcome = answer.status() + " " + answer.header("ETag");
					if (!first.isEmpty() && !first.equals(outcome)) {
						this.wrong.add("first " + first + ", then " + outcome);
					}
					first = outcome;
					if (ThreadLocalRandom.current().nextBoolean()) {
						return answer.status();
					}
				}
				else if (answer != null && !List.of(409, 503, 504).contains(answer.status())) {
					this.wrong.add(answer.toString());
				}
				this.repeats.incrementAndGet();
			}
			return 0;
		}

		private static @Nullable Answer orNull(Supplier<Answer> request) {
			try {
				return request.get();
			}
			catch (UncheckedIOException _) {
				return null;
			}
		}

	}

	private enum Outcome {

		DONE, NOT_APPLIED, UNKNOWN

	}

	private enum Fault {

		KILL, SILENCE, CUT

	}

	/**
	 * A lock that was held.
	 *
	 * @param acquiredBy when its holder knew of it
	 * @param releasedFrom when its holder began to release it
	 */
	private record Held(String token, long acquiredBy, long releasedFrom) {
	}

}
