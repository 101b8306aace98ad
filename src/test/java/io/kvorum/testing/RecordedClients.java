package io.kvorum.testing;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;

/**
 * Clients that put, get and delete the same few keys at the default level, each at one
 * node, whatever that answers, and write down what they asked and were told.
 * <p>
 * The keys change every ten seconds, so that no history gets long. A value is a number
 * that is put once; some are padded so far that they travel as large ones.
 */
public final class RecordedClients implements AutoCloseable {

	private static final int KEYS = 6;

	private static final Duration GENERATION = Duration.ofSeconds(10);

	/** A node answers by its deadline, unless it is stopped. */
	private static final Duration PATIENCE = Duration.ofSeconds(3);

	private static final Duration REST_AFTER_FAILURE = Duration.ofMillis(20);

	private static final int PERCENT_LARGE = 5;

	private static final int LARGE_BYTES = 20_000;

	private final Cluster cluster;

	private final long seed;

	private final long startNanos = System.nanoTime();

	private final AtomicInteger values = new AtomicInteger();

	private final CountDownLatch stopped = new CountDownLatch(1);

	private final List<Thread> threads = new ArrayList<>();

	private final Queue<Recorded> history = new ConcurrentLinkedQueue<>();

	/** Answers that no node may ever give. */
	private final Queue<String> wrongAnswers = new ConcurrentLinkedQueue<>();

	private RecordedClients(Cluster cluster, long seed) {
		this.cluster = cluster;
		this.seed = seed;
	}

	/** Begins, with so many clients for each node. */
	public static RecordedClients on(Cluster cluster, int clients, long seed) {
		RecordedClients recorded = new RecordedClients(cluster, seed);
		for (int node : cluster.nodes()) {
			for (int i = 0; i < clients; i++) {
				String name = "node-" + node + "-" + i;
				recorded.threads.add(Thread.ofVirtual().name(name).start(() -> recorded.run(name, node)));
			}
		}
		return recorded;
	}

	/** Nanoseconds since the history began. */
	public long now() {
		return System.nanoTime() - this.startNanos;
	}

	private void run(String name, int node) {
		Random random = new Random(this.seed ^ name.hashCode());
		try {
			boolean isOver = false;
			while (!isOver) {
				String key = "chaos %d %d".formatted(now() / GENERATION.toNanos(), random.nextInt(KEYS));
				int chance = random.nextInt(10);
				Kind kind = (chance < 4) ? Kind.PUT : (chance < 6) ? Kind.DELETE : Kind.GET;
				boolean isLarge = random.nextInt(100) < PERCENT_LARGE;
				Outcome outcome = send(name, node, key, kind, isLarge);
				long rest = (outcome == Outcome.DONE) ? 0 : REST_AFTER_FAILURE.toMillis();
				isOver = this.stopped.await(rest, TimeUnit.MILLISECONDS);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (RuntimeException ex) {
			this.wrongAnswers.add(name + " ended by " + ex);
		}
	}

	private Outcome send(String name, int node, String key, Kind kind, boolean isLarge) {
		KvorumClient client = this.cluster.client(node).withPatience(PATIENCE);
		int value = (kind == Kind.PUT) ? this.values.incrementAndGet() : Operation.ABSENT;
		Outcome outcome;
		long invokedAt = now();
		try {
			Answer answer = switch (kind) {
				case GET -> client.get(key);
				case PUT -> client.put(key, body(value, isLarge));
				case DELETE -> client.delete(key);
			};
			outcome = outcomeOf(kind, answer);
			value = (kind == Kind.GET && answer.status() == 200) ? valueOf(answer) : value;
		}
		catch (UncheckedIOException ex) {
			outcome = (ex.getCause() instanceof ConnectException) ? Outcome.NOT_APPLIED : Outcome.UNKNOWN;
		}
		this.history.add(new Recorded(node, key, new Operation(name, kind, value,
				(kind == Kind.GET && outcome != Outcome.DONE) ? Outcome.UNKNOWN : outcome, invokedAt, now())));
		return outcome;
	}

	private static byte[] body(int value, boolean isLarge) {
		String text = value + " ";
		return (isLarge ? text + "x".repeat(LARGE_BYTES) : text).getBytes(StandardCharsets.UTF_8);
	}

	private static int valueOf(Answer answer) {
		String text = answer.text();
		return Integer.parseInt(text.substring(0, text.indexOf(' ')));
	}

	private Outcome outcomeOf(Kind kind, Answer answer) {
		int status = answer.status();
		boolean isDone = switch (kind) {
			case GET -> status == 200 || status == 404;
			case PUT -> status == 201;
			case DELETE -> status == 202;
		};
		if (isDone) {
			return Outcome.DONE;
		}
		if (status != 503 && status != 504) {
			this.wrongAnswers.add(kind + " got " + answer);
			return Outcome.UNKNOWN;
		}
		return "not-applied".equals(answer.json().get("outcome")) ? Outcome.NOT_APPLIED : Outcome.UNKNOWN;
	}

	/** Lets the operations under way end; no more follow. */
	public void stop() throws InterruptedException {
		this.stopped.countDown();
		for (Thread thread : this.threads) {
			thread.join();
		}
	}

	/** Reads each key once at each node. */
	public void readAll() {
		for (String key : histories().keySet()) {
			for (int node : this.cluster.nodes()) {
				Outcome outcome = send("at the end", node, key, Kind.GET, false);
				if (outcome != Outcome.DONE) {
					this.wrongAnswers.add("in the end node %d could not read \"%s\"".formatted(node, key));
				}
			}
		}
	}

	/** What was done to each key. */
	public Map<String, List<Operation>> histories() {
		return this.history.stream()
			.collect(Collectors.groupingBy(Recorded::key, TreeMap::new,
					Collectors.mapping(Recorded::operation, Collectors.toList())));
	}

	/** How many operations there were, by what their clients were told. */
	public String counts() {
		return "%d operations done, %d writes of unknown outcome, %d writes not applied, %d reads failed".formatted(
				count(true, Outcome.DONE) + count(false, Outcome.DONE), count(true, Outcome.UNKNOWN),
				count(true, Outcome.NOT_APPLIED), count(false, Outcome.UNKNOWN));
	}

	private long count(boolean isWrite, Outcome outcome) {
		return this.history.stream()
			.map(Recorded::operation)
			.filter(operation -> (operation.kind() != Kind.GET) == isWrite && operation.outcome() == outcome)
			.count();
	}

	public List<String> wrongAnswers() {
		return List.copyOf(this.wrongAnswers);
	}

	/**
	 * How long after this time the first operation at these nodes had succeeded that was
	 * invoked since.
	 */
	public Duration firstSuccess(long since, Collection<Integer> nodes) {
		return Duration.ofNanos(this.history.stream()
			.filter(recorded -> nodes.contains(recorded.node))
			.map(Recorded::operation)
			.filter(operation -> operation.outcome() == Outcome.DONE && operation.invokedAt() >= since)
			.mapToLong(operation -> operation.endedAt() - since)
			.min()
			.orElse(Long.MAX_VALUE));
	}

	/** What became of the operations at these nodes that were invoked in this time. */
	public String summary(long since, Duration within, Collection<Integer> nodes) {
		List<Operation> operations = this.history.stream()
			.filter(recorded -> nodes.contains(recorded.node))
			.map(Recorded::operation)
			.filter(operation -> operation.invokedAt() >= since && operation.invokedAt() - since < within.toNanos())
			.toList();
		return "%d operations, %d of them not done, the slowest %d ms".formatted(operations.size(),
				operations.stream().filter(operation -> operation.outcome() != Outcome.DONE).count(),
				operations.stream().mapToLong(operation -> operation.endedAt() - operation.invokedAt()).max().orElse(0)
						/ 1_000_000);
	}

	/** Sends nothing more. */
	@Override
	public void close() {
		this.stopped.countDown();
	}

	private record Recorded(int node, String key, Operation operation) {
	}

}
