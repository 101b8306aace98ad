package io.kvorum.testing;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Clients that put, get and delete the same few keys at the default level, each at one
 * node, whatever that answers, and write down what they asked and were told. Some writes
 * are conditional. Some have an idempotency key and are repeated at the other nodes until
 * they are answered; such a write is one operation.
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

	private static final int PERCENT_CONDITIONAL = 40;

	private static final int PERCENT_REPEATED = 20;

	private static final int MOST_REQUESTS = 6;

	private final Cluster cluster;

	private final long seed;

	private final long startNanos = System.nanoTime();

	private final AtomicInteger values = new AtomicInteger();

	private final CountDownLatch stopped = new CountDownLatch(1);

	private final List<Thread> threads = new ArrayList<>();

	private final Queue<Recorded> history = new ConcurrentLinkedQueue<>();

	/** The values that were told with these ETags. */
	private final Map<String, Integer> byEtag = new ConcurrentHashMap<>();

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
		Map<String, String> etags = new HashMap<>();
		try {
			boolean isOver = false;
			while (!isOver) {
				String key = "chaos %d %d".formatted(now() / GENERATION.toNanos(), random.nextInt(KEYS));
				Request request = next(key, etags.get(key), random);
				Outcome outcome = send(name, node, request, etags);
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

	/** An operation on a key, of which the client knows this ETag, or none. */
	private Request next(String key, @Nullable String etag, Random random) {
		int chance = random.nextInt(10);
		Kind kind = (chance < 4) ? Kind.PUT : (chance < 6) ? Kind.DELETE : Kind.GET;
		boolean isLarge = random.nextInt(100) < PERCENT_LARGE;
		if (kind == Kind.GET) {
			return Request.get(key);
		}
		List<String> headers = new ArrayList<>();
		Condition condition = null;
		if (random.nextInt(100) < PERCENT_CONDITIONAL && (kind == Kind.PUT || etag != null)) {
			condition = (etag != null) ? Condition.holds(Objects.requireNonNull(this.byEtag.get(etag)))
					: Condition.ABSENT;
			headers.addAll((etag != null) ? List.of("If-Match", etag) : List.of("If-None-Match", "*"));
		}
		boolean isRepeated = random.nextInt(100) < PERCENT_REPEATED;
		if (isRepeated) {
			headers.addAll(List.of("Idempotency-Key", new UUID(random.nextLong(), random.nextLong()).toString()));
		}
		return new Request(key, kind, isLarge, condition, headers, isRepeated);
	}

	/**
	 * @param etags takes the ETag that the client is told of the key
	 */
	private Outcome send(String name, int node, Request request, Map<String, String> etags)
			throws InterruptedException {
		int value = (request.kind == Kind.PUT) ? this.values.incrementAndGet() : Operation.ABSENT;
		long invokedAt = now();
		Told told = ask(node, request, value);
		boolean mayHaveHappened = told.outcome == Outcome.UNKNOWN;
		for (int requests = 1; request.isRepeated && !told.isKnown() && requests < MOST_REQUESTS; requests++) {
			this.stopped.await(REST_AFTER_FAILURE.toMillis(), TimeUnit.MILLISECONDS);
			told = ask(this.cluster.nodes().get((node + requests) % this.cluster.nodes().size()), request, value);
			mayHaveHappened |= told.outcome == Outcome.UNKNOWN;
		}
		Outcome outcome = (!told.isKnown() && mayHaveHappened) ? Outcome.UNKNOWN : told.outcome;
		if (request.kind == Kind.GET) {
			value = told.value;
			outcome = (outcome != Outcome.DONE) ? Outcome.UNKNOWN : outcome;
		}
		if (outcome == Outcome.DONE && value != Operation.ABSENT) {
			this.byEtag.put(told.etag, value);
			etags.put(request.key, told.etag);
		}
		else if (told.isKnown()) {
			etags.remove(request.key);
		}
		boolean isUnmet = outcome == Outcome.NOT_MET;
		this.history.add(new Recorded(node, request.key,
				new Operation(name, request.kind, value, isUnmet ? Outcome.DONE : outcome, invokedAt, now())
					.provided(request.condition),
				isUnmet ? told.etag : null));
		return outcome;
	}

	private Told ask(int node, Request request, int value) {
		KvorumClient client = this.cluster.client(node).withPatience(PATIENCE);
		String[] headers = request.headers.toArray(String[]::new);
		try {
			Answer answer = switch (request.kind) {
				case GET -> client.get(request.key);
				case PUT -> client.putWith(request.key, body(value, request.isLarge), headers);
				case DELETE -> client.deleteWith(request.key, headers);
			};
			boolean isFound = request.kind == Kind.GET && answer.status() == 200;
			return new Told(outcomeOf(request, answer), isFound ? valueOf(answer) : Operation.ABSENT,
					answer.header("ETag"));
		}
		catch (UncheckedIOException ex) {
			return new Told((ex.getCause() instanceof ConnectException) ? Outcome.NOT_APPLIED : Outcome.UNKNOWN,
					Operation.ABSENT, "");
		}
	}

	private static String body(int value, boolean isLarge) {
		String text = value + " ";
		return isLarge ? text + "x".repeat(LARGE_BYTES) : text;
	}

	private static int valueOf(Answer answer) {
		String text = answer.text();
		return Integer.parseInt(text.substring(0, text.indexOf(' ')));
	}

	private Outcome outcomeOf(Request request, Answer answer) {
		int status = answer.status();
		boolean isDone = switch (request.kind) {
			case GET -> status == 200 || status == 404;
			case PUT -> status == 201;
			case DELETE -> status == 202;
		};
		if (isDone) {
			return Outcome.DONE;
		}
		if (status == 412 && request.condition != null) {
			return Outcome.NOT_MET;
		}
		if (status != 503 && status != 504 && (status != 409 || !request.isRepeated)) {
			this.wrongAnswers.add(request.kind + " got " + answer);
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
	public void readAll() throws InterruptedException {
		for (String key : histories().keySet()) {
			for (int node : this.cluster.nodes()) {
				Outcome outcome = send("at the end", node, Request.get(key), new HashMap<>());
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
					Collectors.mapping(this::resolved, Collectors.toList())));
	}

	/**
	 * The operation with the value that a 412 has named by its ETag. If no client was
	 * told which value that is, all that is known is that the write did not happen.
	 */
	private Operation resolved(Recorded recorded) {
		if (recorded.unmetBy == null) {
			return recorded.operation;
		}
		Integer current = recorded.unmetBy.isEmpty() ? Integer.valueOf(Operation.ABSENT)
				: this.byEtag.get(recorded.unmetBy);
		return (current != null) ? recorded.operation.unmet(current) : recorded.operation.ending(Outcome.NOT_APPLIED);
	}

	/** How many operations there were, by what their clients were told. */
	public String counts() {
		return "%d operations done (%d of them conditional writes), %d conditions not met, %d writes of unknown outcome, %d writes not applied, %d reads failed"
			.formatted(count(recorded -> recorded.is(Outcome.DONE)),
					count(recorded -> recorded.is(Outcome.DONE) && recorded.operation.condition() != null),
					count(recorded -> recorded.unmetBy != null),
					count(recorded -> recorded.isWrite() && recorded.is(Outcome.UNKNOWN)),
					count(recorded -> recorded.isWrite() && recorded.is(Outcome.NOT_APPLIED)),
					count(recorded -> !recorded.isWrite() && recorded.is(Outcome.UNKNOWN)));
	}

	private long count(Predicate<Recorded> which) {
		return this.history.stream().filter(which).count();
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

	/**
	 * What a client asked and was told.
	 *
	 * @param operation done, if its condition was not met
	 * @param unmetBy the ETag of the value that was there instead, empty if none; null
	 * unless a condition was not met
	 */
	private record Recorded(int node, String key, Operation operation, @Nullable String unmetBy) {

		boolean is(Outcome outcome) {
			return this.operation.outcome() == outcome && this.unmetBy == null;
		}

		boolean isWrite() {
			return this.operation.kind() != Kind.GET;
		}

	}

	/**
	 * What a client asks for.
	 *
	 * @param condition what its headers demand; null for nothing
	 * @param isRepeated whether it is sent again until it is answered
	 */
	private record Request(String key, Kind kind, boolean isLarge, @Nullable Condition condition, List<String> headers,
			boolean isRepeated) {

		static Request get(String key) {
			return new Request(key, Kind.GET, false, null, List.of(), false);
		}

	}

	/**
	 * What a client is told.
	 *
	 * @param value what a get found
	 * @param etag empty if there is none
	 */
	private record Told(Outcome outcome, int value, String etag) {

		boolean isKnown() {
			return this.outcome == Outcome.DONE || this.outcome == Outcome.NOT_MET;
		}

	}

}
