package io.kvorum.testing.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.testing.history.Linearizability;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import io.kvorum.testing.history.Violation;
import org.jspecify.annotations.Nullable;

/**
 * PUTs and GETs at the default level, at a constant rate: a request is due when it is
 * due, whatever became of those before, and its latency counts from then. Each is sent
 * once, its answer is checked, and what all clients saw of a key has to be linearizable.
 * <p>
 * A request has <b>failed</b> where it got another answer than a healthy cluster gives,
 * or none. A client goes to another node where a connection cannot be made, or has been
 * closed before it had something to send; nothing else is hidden. To a request that was
 * sent and not answered there is one exception, which is counted apart:
 * {@linkplain #expectCuts a node that is killed} takes with it what it was asked, its
 * write is of unknown outcome, and the client asks another node.
 * <p>
 * One thread, which costs about 15 µs a request.
 */
public final class OpenLoad implements AutoCloseable {

	/** Each is asked for about once a second at 3,000 requests a second. */
	private static final int KEYS = 2_000;

	/** Then other keys are used, so that no history gets long. */
	private static final long GENERATION_NANOS = TimeUnit.SECONDS.toNanos(60);

	/** Far beyond any deadline of a node. */
	private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

	/** One connection at a time goes back to a node that is back. */
	private static final long HOMECOMING_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private static final int DETAILS_LENGTH = 400;

	private final LoadSettings settings;

	private final Rotation rotation;

	private final Selector selector;

	private final Random random = new Random(1);

	private final Deque<LoadConnection> free = new ArrayDeque<>();

	private final List<LoadConnection> connections = new ArrayList<>();

	private final Deque<LoadRequest> waiting = new ArrayDeque<>();

	private final Map<String, List<Operation>> histories = new HashMap<>();

	private final List<Phase> phases = new ArrayList<>();

	private final Set<Integer> cut = ConcurrentHashMap.newKeySet();

	private final Map<String, Integer> events = new HashMap<>();

	private final long startNanos = System.nanoTime();

	private final Thread thread = Thread.ofPlatform().daemon().name("load").unstarted(this::run);

	private volatile String phaseName = "";

	private final AtomicLong answered = new AtomicLong();

	private volatile boolean stopped;

	private volatile @Nullable Throwable failure;

	private long nextDueNanos = this.startNanos;

	private long homecomingNanos = this.startNanos;

	private int values;

	private OpenLoad(LoadSettings settings) throws IOException {
		this.settings = settings;
		this.rotation = new Rotation(settings.nodes());
		this.selector = Selector.open();
		for (int i = 0; i < settings.connections() * settings.nodes().size(); i++) {
			int home = i % settings.nodes().size();
			this.connections.add(new LoadConnection("client " + i, home, settings.nodes(), this.rotation, this.selector,
					new Account()));
		}
		this.free.addAll(this.connections);
	}

	/** Begins. */
	public static OpenLoad start(LoadSettings settings, String firstPhase) {
		try {
			OpenLoad load = new OpenLoad(settings);
			load.phaseName = firstPhase;
			load.rotation.start();
			load.thread.start();
			return load;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** What is due from now on is accounted for apart. */
	public void phase(String name) {
		this.phaseName = name;
	}

	/** How many requests have been answered as they should. */
	public long answered() {
		return this.answered.get();
	}

	/** A node is about to be killed: what it was asked is asked again elsewhere. */
	public void expectCuts(int node) {
		this.cut.add(node);
	}

	public void expectNoCuts() {
		this.cut.clear();
	}

	/** Lets the requests under way end, reads each key once more, and checks all. */
	public LoadReport stop() throws InterruptedException {
		this.stopped = true;
		this.thread.join();
		this.rotation.close();
		Throwable broken = this.failure;
		if (broken != null) {
			throw new IllegalStateException("the load has ended by itself", broken);
		}
		List<String> violations = new ArrayList<>();
		this.histories.forEach((key, history) -> {
			Violation violation = Linearizability.check(history);
			if (violation != null) {
				violations.add(key + ": " + violation);
			}
		});
		int operations = this.histories.values().stream().mapToInt(List::size).sum();
		return new LoadReport(List.copyOf(this.phases), violations, this.histories.size(), operations,
				Map.copyOf(this.events));
	}

	@Override
	public void close() {
		this.stopped = true;
		this.rotation.close();
	}

	private void run() {
		try {
			while (!this.stopped) {
				takeWhatIsDue();
				turn();
			}
			finish();
			this.phases.getLast().end(System.nanoTime());
		}
		catch (IOException | RuntimeException | Error ex) {
			this.failure = ex;
		}
		finally {
			this.connections.forEach(LoadConnection::close);
		}
	}

	private void finish() throws IOException {
		while (isUnderWay()) {
			turn();
		}
		begin("each key once more");
		Iterator<String> keys = new HashSet<>(this.histories.keySet()).iterator();
		while (keys.hasNext() || isUnderWay()) {
			while (keys.hasNext() && this.waiting.size() < this.free.size()) {
				this.waiting.add(new LoadRequest(this.phases.getLast(), System.nanoTime(), Kind.GET, keys.next(),
						Operation.ABSENT));
			}
			turn();
		}
	}

	private boolean isUnderWay() {
		return !this.waiting.isEmpty() || this.free.size() < this.connections.size();
	}

	private void turn() throws IOException {
		while (!this.waiting.isEmpty() && !this.free.isEmpty()) {
			this.free.removeFirst().take(this.waiting.removeFirst());
		}
		this.selector.select(this::ready, 1);
		long tooOld = System.nanoTime() - PATIENCE_NANOS;
		this.connections.forEach(connection -> connection.giveUpIfOlder(tooOld));
	}

	private void ready(SelectionKey key) {
		if (key.attachment() instanceof LoadConnection connection) {
			connection.ready(key);
		}
	}

	private void takeWhatIsDue() {
		String wanted = this.phaseName;
		if (this.phases.isEmpty() || !this.phases.getLast().name.equals(wanted)) {
			begin(wanted);
		}
		Phase phase = this.phases.getLast();
		long now = System.nanoTime();
		while (this.nextDueNanos - now <= 0) {
			Kind kind = (this.random.nextDouble() < this.settings.puts()) ? Kind.PUT : Kind.GET;
			long generation = (this.nextDueNanos - this.startNanos) / GENERATION_NANOS;
			// Of this load alone: what an earlier one has put is in no history of this
			// one.
			String key = "load/%x/%d/%d".formatted(this.startNanos, generation, this.random.nextInt(KEYS));
			this.waiting.add(request(phase, this.nextDueNanos, kind, key));
			this.nextDueNanos += TimeUnit.SECONDS.toNanos(1) / this.settings.rate();
		}
	}

	private LoadRequest request(Phase phase, long dueNanos, Kind kind, String key) {
		return new LoadRequest(phase, dueNanos, kind, key, (kind == Kind.PUT) ? ++this.values : Operation.ABSENT);
	}

	private void begin(String name) {
		long now = System.nanoTime();
		if (!this.phases.isEmpty()) {
			this.phases.getLast().end(now);
		}
		this.phases.add(new Phase(name, now));
	}

	/** Keeps account, and frees connections. */
	private final class Account implements LoadConnection.Listener {

		@Override
		public boolean mayGoHome() {
			long now = System.nanoTime();
			boolean may = now - OpenLoad.this.homecomingNanos >= HOMECOMING_NANOS;
			OpenLoad.this.homecomingNanos = may ? now : OpenLoad.this.homecomingNanos;
			return may;
		}

		@Override
		public void refused() {
			count("connections refused");
		}

		@Override
		public void closedIdle() {
			count("connections found closed before a request");
		}

		private void count(String event) {
			OpenLoad.this.events.merge(event, 1, Integer::sum);
		}

		@Override
		public void answered(LoadConnection connection, LoadRequest request, long sentNanos, int status, String body) {
			boolean isGet = request.kind() == Kind.GET;
			if (isGet && status == 404) {
				done(connection, request, sentNanos, Operation.ABSENT);
			}
			else if (isGet && status == 200) {
				Integer value = request.valueIn(body);
				if (value != null) {
					done(connection, request, sentNanos, value);
				}
				else {
					failed(connection, request, sentNanos, Outcome.UNKNOWN, "GET 200 with other bytes", body);
				}
			}
			else if (!isGet && status == 201) {
				done(connection, request, sentNanos, request.value());
			}
			else {
				Outcome outcome = (!isGet && body.contains("\"outcome\":\"not-applied\"")) ? Outcome.NOT_APPLIED
						: Outcome.UNKNOWN;
				failed(connection, request, sentNanos, outcome, request.kind() + " " + status, body);
			}
		}

		private void done(LoadConnection connection, LoadRequest request, long sentNanos, int value) {
			long now = record(connection, request, sentNanos, value, Outcome.DONE);
			request.phase().answered(now - request.dueNanos());
			OpenLoad.this.answered.incrementAndGet();
		}

		@Override
		public void notSent(LoadConnection connection, LoadRequest request) {
			failed(connection, request, System.nanoTime(), Outcome.NOT_APPLIED, "no node takes a connection", "");
		}

		@Override
		public void broken(LoadConnection connection, LoadRequest request, long sentNanos, int node, String why) {
			if (!OpenLoad.this.cut.contains(node)) {
				failed(connection, request, sentNanos, Outcome.UNKNOWN, request.kind() + " " + why,
						"at node " + (node + 1));
				return;
			}
			count("requests cut off with a node that was killed, and sent to another one");
			record(connection, request, sentNanos, request.value(), Outcome.UNKNOWN);
			OpenLoad.this.waiting.addFirst(request(request.phase(), request.dueNanos(), request.kind(), request.key()));
		}

		private void failed(LoadConnection connection, LoadRequest request, long sentNanos, Outcome outcome,
				String kind, String details) {
			boolean isGet = request.kind() == Kind.GET;
			long now = record(connection, request, sentNanos, request.value(), isGet ? Outcome.UNKNOWN : outcome);
			request.phase()
				.failed(kind, request.dueNanos(), now,
						details.substring(0, Math.min(details.length(), DETAILS_LENGTH)));
		}

		private long record(LoadConnection connection, LoadRequest request, long sentNanos, int value,
				Outcome outcome) {
			long now = System.nanoTime();
			OpenLoad.this.histories.computeIfAbsent(request.key(), _ -> new ArrayList<>())
				.add(new Operation(connection.name, request.kind(), value, outcome,
						sentNanos - OpenLoad.this.startNanos, now - OpenLoad.this.startNanos));
			OpenLoad.this.free.addLast(connection);
			return now;
		}

	}

}
