package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
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
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.kvorum.testing.history.Linearizability;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import io.kvorum.testing.history.Violation;
import org.jspecify.annotations.Nullable;

/**
 * Clients that put, get and delete the same few keys at the default level, each at one
 * node, whatever that answers, and write down what they asked and were told. Some writes
 * are conditional. Some have an idempotency key and are repeated at the other nodes until
 * they are answered; such a write is one operation.
 * <p>
 * The keys change every ten seconds, so that no history gets long. A value is a number
 * that is put once; some are padded so far that they travel as large ones.
 * <p>
 * The nodes may change meanwhile: see {@link #workAt}.
 */
public final class RecordedClients implements AutoCloseable {

	private static final Duration GENERATION = Duration.ofSeconds(10);

	private static final Duration REST_AFTER_FAILURE = Duration.ofMillis(20);

	private static final int LARGE_BYTES = 20_000;

	private static final int PERCENT_CONDITIONAL = 40;

	private static final int PERCENT_REPEATED = 20;

	private static final int MOST_REQUESTS = 6;

	/** Of a history that is wrong: before and after what cannot be explained. */
	private static final int PRINTED_LINES = 40;

	private final IntFunction<KvorumClient> clients;

	private final Habits habits;

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

	private final Queue<Failure> failures = new ConcurrentLinkedQueue<>();

	/** The node that each client works at now, by the name of the client. */
	private final Map<String, Integer> busy = new ConcurrentHashMap<>();

	/** The nodes at which operations begin. */
	private volatile List<Integer> nodes;

	private RecordedClients(IntFunction<KvorumClient> clients, List<Integer> nodes, Habits habits, long seed) {
		this.clients = clients;
		this.nodes = List.copyOf(nodes);
		this.habits = habits;
		this.seed = seed;
	}

	/** Begins, with so many clients for each node. */
	public static RecordedClients on(Cluster cluster, int clients, long seed) {
		return on(cluster::client, cluster.nodes(), clients * cluster.nodes().size(), Habits.HASTY, seed);
	}

	/**
	 * Begins.
	 * @param nodes their numbers
	 * @param count how many clients there are at all nodes together
	 */
	public static RecordedClients on(IntFunction<KvorumClient> clients, List<Integer> nodes, int count, Habits habits,
			long seed) {
		RecordedClients recorded = new RecordedClients(clients, nodes, habits, seed);
		for (int i = 0; i < count; i++) {
			int number = i;
			recorded.threads.add(Thread.ofVirtual()
				.uncaughtExceptionHandler((_, ex) -> recorded.wrongAnswers.add("a client ended: " + ex))
				.start(() -> recorded.run("client-" + number, number)));
		}
		return recorded;
	}

	/**
	 * From now on operations begin at these nodes only. Returns when those at other nodes
	 * have ended.
	 */
	public void workAt(List<Integer> nodes) throws InterruptedException {
		this.nodes = List.copyOf(nodes);
		Poll.until(() -> "clients work at " + nodes + " only: " + this.busy, this.habits.patience.multipliedBy(2),
				() -> nodes.containsAll(this.busy.values()));
	}

	/** Nanoseconds since the history began. */
	public long now() {
		return System.nanoTime() - this.startNanos;
	}

	private void run(String name, int number) {
		Random random = new Random(this.seed ^ name.hashCode());
		Map<String, String> etags = new HashMap<>();
		long interval = this.habits.interval.toNanos();
		long due = now() + ((interval > 0) ? random.nextLong(interval) : 0);
		try {
			while (!this.stopped.await(due - now(), TimeUnit.NANOSECONDS)) {
				due = Math.max(due + interval, now());
				Outcome outcome = send(name, begin(name, number), next(etags, random), etags);
				this.busy.remove(name);
				if (outcome != Outcome.DONE) {
					due = Math.max(due, now() + REST_AFTER_FAILURE.toNanos());
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (RuntimeException ex) {
			this.wrongAnswers.add(name + " ended by " + ex);
		}
	}

	/** The node at which a client begins an operation. */
	private int begin(String name, int number) {
		int node;
		do {
			List<Integer> all = this.nodes;
			node = all.get(number % all.size());
			this.busy.put(name, node);
		}
		while (!this.nodes.contains(node));
		return node;
	}

	/**
	 * An operation.
	 * @param etags what the client knows of keys
	 */
	private Request next(Map<String, String> etags, Random random) {
		long generation = now() / GENERATION.toNanos();
		int chance = random.nextInt(10);
		Kind kind = (chance < 4) ? Kind.PUT : (chance < 6) ? Kind.DELETE : Kind.GET;
		boolean isLarge = random.nextInt(100) < this.habits.percentLarge;
		boolean isOld = kind == Kind.GET && random.nextInt(100) < this.habits.percentOld;
		String key = "chaos %d %d".formatted(isOld ? random.nextLong(generation + 1) : generation,
				random.nextInt(this.habits.keys));
		if (kind == Kind.GET) {
			return Request.get(key);
		}
		String etag = etags.get(key);
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
			List<Integer> all = this.nodes;
			told = ask(all.get((node + requests) % all.size()), request, value);
			mayHaveHappened |= told.outcome == Outcome.UNKNOWN;
		}
		Outcome outcome = (!told.isKnown() && mayHaveHappened) ? Outcome.UNKNOWN : told.outcome;
		if (request.kind == Kind.GET) {
			value = told.value;
			outcome = (outcome != Outcome.DONE) ? Outcome.UNKNOWN : outcome;
		}
		if (outcome == Outcome.DONE && value != Operation.ABSENT) {
			Integer other = this.byEtag.putIfAbsent(told.etag, value);
			if (told.etag.isEmpty() || (other != null && other != value)) {
				this.wrongAnswers.add("the ETag of %d is \"%s\", which %s has".formatted(value, told.etag, other));
			}
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
		KvorumClient client = this.clients.apply(node).withPatience(this.habits.patience);
		String[] headers = request.headers.toArray(String[]::new);
		long from = now();
		try {
			Answer answer = switch (request.kind) {
				case GET -> client.get(request.key);
				case PUT -> client.putWith(request.key, body(value, request.isLarge), headers);
				case DELETE -> client.deleteWith(request.key, headers);
			};
			boolean isFound = request.kind == Kind.GET && answer.status() == 200;
			Told told = new Told(outcomeOf(request, answer), isFound ? valueOf(answer) : Operation.ABSENT,
					answer.header("ETag"));
			if (!told.isKnown()) {
				this.failures.add(new Failure(node, from, now(), request.kind + " got " + answer));
			}
			return told;
		}
		catch (UncheckedIOException ex) {
			this.failures.add(new Failure(node, from, now(), request.kind + " got " + ex.getCause()));
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

	/** Reads each key once at each node at which operations began last. */
	public void readAll() throws InterruptedException {
		for (String key : histories().keySet()) {
			for (int node : this.nodes) {
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

	/** All requests that were not answered as asked, in the order of their ends. */
	public List<Failure> failures() {
		return List.copyOf(this.failures);
	}

	/** How many operations there were. */
	public int operations() {
		return this.history.size();
	}

	/** How long these operations took, from the shortest. */
	public List<Duration> latencies(Predicate<Operation> which) {
		return this.history.stream()
			.map(Recorded::operation)
			.filter(which)
			.map(operation -> Duration.ofNanos(operation.endedAt() - operation.invokedAt()))
			.sorted()
			.toList();
	}

	/**
	 * What is wrong with the histories, in short.
	 * @param directory that takes those histories as a whole
	 */
	public List<String> violations(Path directory) throws IOException {
		List<String> violations = new ArrayList<>();
		for (Map.Entry<String, List<Operation>> of : histories().entrySet()) {
			Violation violation = Linearizability.check(of.getValue());
			if (violation != null) {
				Path file = directory.resolve(of.getKey().replace(' ', '-') + ".txt");
				Files.writeString(file, violation.toString());
				violations.add("%s, all of it in %s:%n%s".formatted(of.getKey(), file, excerpt(violation)));
			}
		}
		return violations;
	}

	private static String excerpt(Violation violation) {
		List<String> lines = violation.toString().lines().toList();
		int at = 0;
		while (at < lines.size() && !lines.get(at).startsWith(">>>")) {
			at++;
		}
		List<String> around = lines.subList(Math.max(1, at - PRINTED_LINES),
				Math.min(lines.size(), at + PRINTED_LINES / 4));
		return lines.getFirst() + "\n" + String.join("\n", around);
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
	 * How clients work.
	 *
	 * @param keys the number of keys that are used in ten seconds
	 * @param percentLarge of the values are large
	 * @param percentOld of the reads are of any key of before, too
	 * @param interval between two operations of a client that begin, if none takes longer
	 * @param patience with an answer
	 */
	public record Habits(int keys, int percentLarge, int percentOld, Duration interval, Duration patience) {

		/**
		 * Those of clients that do not pause. A node answers by its deadline, unless it
		 * is stopped.
		 */
		public static final Habits HASTY = new Habits(6, 5, 0, Duration.ZERO, Duration.ofSeconds(3));

	}

	/**
	 * A request that was not answered as asked.
	 *
	 * @param from when it was sent
	 * @param to when its client had the answer or gave up
	 */
	public record Failure(int node, long from, long to, String text) {
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
