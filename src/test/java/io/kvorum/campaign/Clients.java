package io.kvorum.campaign;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.kvorum.campaign.KeyHistory.Seen;
import io.kvorum.testing.Answer;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Condition;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;

/**
 * Clients that put, get and delete at the default level, each at one node, whatever that
 * answers, at a steady pace. A quarter of it goes to a few hot keys, a fifth reads keys
 * of earlier generations, a little has a time to live. Some writes have the condition
 * that the key still has the value that a client was told last, or none.
 */
final class Clients {

	private static final int CLIENTS_A_NODE = 12;

	/** A node answers by its deadline, unless it is stopped. */
	private static final Duration PATIENCE = Duration.ofSeconds(3);

	private static final int HOT_KEYS = 12;

	/** A key is used so often in its generation. */
	private static final int OPERATIONS_A_KEY = 30;

	private static final int MAX_TTL_KEYS = 500;

	private static final int LARGE_BYTES = 20_000;

	private static final int PERCENT_CONDITIONAL = 40;

	private final List<KvorumClient> nodes;

	private final int rate;

	private final Book book;

	private final long startNanos = System.nanoTime();

	private final AtomicInteger values = new AtomicInteger();

	private final AtomicLong ttlReads = new AtomicLong();

	private final List<long[]> wrongClocks = new ArrayList<>();

	private final Map<Integer, Short> ttls = new ConcurrentHashMap<>();

	private final Map<Integer, Operation> ttlPuts = new ConcurrentHashMap<>();

	/** What no node may answer, and reads of keys with a time to live that are wrong. */
	private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

	/** When each client began what it does now. */
	private final Map<String, Long> underWay = new ConcurrentHashMap<>();

	/** Whose phases are those between two rests. */
	private final Phaser rests = new Phaser(1);

	private volatile boolean resting = true;

	Clients(List<KvorumClient> nodes, int rate, long seed, Book book) {
		this.nodes = nodes;
		this.rate = rate;
		this.book = book;
		for (int node = 0; node < nodes.size(); node++) {
			for (int i = 0; i < CLIENTS_A_NODE; i++) {
				String name = "n%d-%d".formatted(node + 1, i);
				KvorumClient client = nodes.get(node).withPatience(PATIENCE);
				this.rests.register();
				Thread.ofVirtual().name(name).start(() -> run(name, client, new Random(seed ^ name.hashCode())));
			}
		}
	}

	/** Nanoseconds since the history began. */
	long now() {
		return System.nanoTime() - this.startNanos;
	}

	/** No operation under way began earlier, and none that is to come will. */
	long horizon() {
		long now = now();
		return this.underWay.values().stream().mapToLong(Long::longValue).reduce(now, Math::min);
	}

	/** Lets the operations under way end; returns when there are none. */
	void rest() {
		this.resting = true;
		this.rests.arriveAndAwaitAdvance();
	}

	void work() {
		this.resting = false;
		this.rests.arriveAndAwaitAdvance();
	}

	/** From now on clocks are wrong, or right again. */
	void clocks(boolean areWrong) {
		synchronized (this.wrongClocks) {
			if (areWrong) {
				this.wrongClocks.add(new long[] { now(), Long.MAX_VALUE / 2 });
			}
			else if (!this.wrongClocks.isEmpty()) {
				this.wrongClocks.getLast()[1] = now();
			}
		}
	}

	/** What was wrong since it was asked last. */
	List<String> takeWrong() {
		List<String> taken = new ArrayList<>();
		for (String one = this.wrong.poll(); one != null; one = this.wrong.poll()) {
			taken.add(one);
		}
		return taken;
	}

	long ttlReads() {
		return this.ttlReads.get();
	}

	private void run(String name, KvorumClient client, Random random) {
		long interval = TimeUnit.SECONDS.toNanos(1) * CLIENTS_A_NODE * this.nodes.size() / this.rate;
		long due = System.nanoTime() + random.nextLong(interval);
		while (true) {
			if (this.resting) {
				// Once when all rest, and once when all work again.
				this.rests.arriveAndAwaitAdvance();
				this.rests.arriveAndAwaitAdvance();
				due = System.nanoTime() + random.nextLong(interval);
			}
			LockSupport.parkNanos(due - System.nanoTime());
			if (System.nanoTime() - due >= 0) {
				due = Math.max(due + interval, System.nanoTime());
				this.underWay.put(name, now());
				try {
					operate(name, client, random);
				}
				catch (RuntimeException ex) {
					this.wrong.add("client " + name + " met " + ex);
				}
				this.underWay.remove(name);
			}
		}
	}

	private void operate(String name, KvorumClient client, Random random) {
		int chance = random.nextInt(100);
		String old = this.book.anOldKey(random);
		if (chance < 2) {
			putWithTtl(name, client, random);
		}
		else if (chance < 5) {
			getWithTtl(name, client, random);
		}
		else if (chance < 25 && old != null) {
			send(name, client, Kind.GET, old, random);
		}
		else {
			int keys = (int) (this.rate * Book.GENERATION_NANOS / 1_000_000_000L / OPERATIONS_A_KEY);
			int number = (chance < 50) ? random.nextInt(HOT_KEYS) : HOT_KEYS + random.nextInt(keys);
			int kind = random.nextInt(10);
			send(name, client, (kind < 4) ? Kind.PUT : (kind < 5) ? Kind.DELETE : Kind.GET, Book.key(now(), number),
					random);
		}
	}

	private void send(String name, KvorumClient client, Kind kind, String key, Random random) {
		boolean isConditional = kind != Kind.GET && random.nextInt(100) < PERCENT_CONDITIONAL;
		Seen seen = isConditional ? this.book.seen(key) : null;
		boolean creates = isConditional && seen == null && kind == Kind.PUT;
		Condition condition = (seen != null) ? Condition.holds(seen.value()) : creates ? Condition.ABSENT : null;
		String[] headers = (seen != null) ? new String[] { "If-Match", seen.etag() }
				: creates ? new String[] { "If-None-Match", "*" } : new String[0];
		int value = (kind == Kind.PUT) ? this.values.incrementAndGet() : Operation.ABSENT;
		String body = body(value, random.nextInt(100) < 2);
		long invokedAt = now();
		Told told = ask(kind, key, () -> switch (kind) {
			case GET -> client.get(key);
			case PUT -> client.putWith(key, body, headers);
			case DELETE -> client.deleteWith(key, headers);
		});
		Operation operation = new Operation(name, kind, (kind == Kind.GET) ? told.value : value, Outcome.DONE,
				invokedAt, now())
			.provided(condition)
			.ending(told.outcome);
		String how = (seen != null) ? "-if-match" : creates ? "-if-none-match" : "";
		this.book.record(key, operation, told.etag, kind + how + "/" + told.answer);
	}

	private Told ask(Kind kind, String key, Supplier<Answer> request) {
		try {
			return told(kind, key, request.get());
		}
		catch (UncheckedIOException ex) {
			boolean isRefused = ex.getCause() instanceof ConnectException;
			Outcome outcome = (isRefused && kind != Kind.GET) ? Outcome.NOT_APPLIED : Outcome.UNKNOWN;
			return new Told(outcome, Operation.ABSENT, "", isRefused ? "refused" : "none");
		}
	}

	private Told told(Kind kind, String key, Answer answer) {
		String status = Integer.toString(answer.status());
		String etag = answer.header("ETag");
		return switch (answer.status()) {
			case 200 -> new Told(Outcome.DONE, valueOf(answer.body()), etag, status);
			case 404, 201, 202 -> new Told(Outcome.DONE, Operation.ABSENT, etag, status);
			case 412 -> new Told(Outcome.NOT_MET, Operation.ABSENT, etag, status);
			case 503, 504, 507 -> {
				boolean isNotApplied = kind != Kind.GET && "not-applied".equals(answer.json().get("outcome"));
				yield new Told(isNotApplied ? Outcome.NOT_APPLIED : Outcome.UNKNOWN, Operation.ABSENT, "", status);
			}
			default -> {
				this.wrong.add("answer %s %s got %s".formatted(kind, key, answer));
				yield new Told(Outcome.UNKNOWN, Operation.ABSENT, "", status);
			}
		};
	}

	private static String body(int value, boolean isLarge) {
		return value + " " + "x".repeat(isLarge ? LARGE_BYTES : 40);
	}

	static int valueOf(byte[] body) {
		String text = new String(body, StandardCharsets.US_ASCII);
		return Integer.parseInt(text.substring(0, text.indexOf(' ')));
	}

	private void putWithTtl(String name, KvorumClient client, Random random) {
		int value = this.values.incrementAndGet();
		short seconds = (short) random.nextInt(5, 60);
		long invokedAt = now();
		String body = body(value, random.nextInt(100) < 2);
		Told told = ask(Kind.PUT, "t/" + value, () -> client.put("t/" + value, body, "ttl=" + seconds + "s"));
		Operation put = new Operation(name, Kind.PUT, value, told.outcome, invokedAt, now());
		int slot = random.nextInt(MAX_TTL_KEYS);
		this.ttls.put(value, seconds);
		Operation before = this.ttlPuts.put(slot, put);
		if (before != null) {
			this.ttls.remove(before.value());
		}
	}

	private void getWithTtl(String name, KvorumClient client, Random random) {
		Operation put = this.ttlPuts.get(random.nextInt(MAX_TTL_KEYS));
		Short seconds = (put != null) ? this.ttls.get(put.value()) : null;
		if (put == null || seconds == null) {
			return;
		}
		long invokedAt = now();
		Told told = ask(Kind.GET, "t/" + put.value(), () -> client.get("t/" + put.value()));
		Operation get = new Operation(name, Kind.GET, told.value, told.outcome, invokedAt, now());
		String fault;
		synchronized (this.wrongClocks) {
			fault = new TtlRule(this.wrongClocks).fault(put, TimeUnit.SECONDS.toNanos(seconds), get);
		}
		this.ttlReads.incrementAndGet();
		if (fault != null) {
			this.wrong.add("ttl t/%d of %d s: %s: %s; %s".formatted(put.value(), seconds, fault, put, get));
		}
	}

	/**
	 * @param value that a GET has found
	 * @param etag empty without one
	 */
	private record Told(Outcome outcome, int value, String etag, String answer) {
	}

}
