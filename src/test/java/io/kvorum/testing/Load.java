package io.kvorum.testing;

import java.io.UncheckedIOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Clients that put, get and delete at the default level, one request after the other on
 * keys of their own, with pauses, until they are stopped; they note every answer that a
 * client of a healthy cluster would not get.
 */
public final class Load implements AutoCloseable {

	/** Of each client. */
	private static final int KEYS = 20;

	/**
	 * Between four requests of a client and the next four: the nodes need the cores, too.
	 */
	private static final int MAX_PAUSE_MILLIS = 40;

	private final Workers clients = new Workers();

	private final AtomicLong succeeded = new AtomicLong();

	private final AtomicLong slowestNanos = new AtomicLong();

	private final Queue<String> failures = new ConcurrentLinkedQueue<>();

	private final long startedNanos = System.nanoTime();

	/** Begins, with so many clients for each of these nodes. */
	public static Load on(Cluster cluster, List<Integer> nodes, int clients) {
		return on(cluster::client, nodes, clients);
	}

	/** Begins, with so many clients for each of these nodes. */
	public static Load on(IntFunction<KvorumClient> client, List<Integer> nodes, int clients) {
		Load load = new Load();
		for (int node : nodes) {
			for (int i = 0; i < clients; i++) {
				String prefix = "load " + load.startedNanos + " " + node + " " + i;
				load.clients.start(MAX_PAUSE_MILLIS, round -> load.run(client.apply(node), node, prefix, round));
			}
		}
		return load;
	}

	private void run(KvorumClient client, int node, String prefix, int round) {
		String value = "value " + round;
		String key = prefix + " " + round % KEYS;
		send(node, "PUT", 201, () -> client.put(key, value), value, false);
		send(node, "GET", 200, () -> client.get(key), value, true);
		send(node, "DELETE", 202, () -> client.delete(key), value, false);
		send(node, "GET", 404, () -> client.get(key), value, false);
	}

	private void send(int node, String what, int expected, Supplier<Answer> request, String value, boolean isBody) {
		long start = System.nanoTime();
		String got;
		try {
			Answer answer = request.get();
			boolean isRight = answer.status() == expected && (!isBody || answer.text().equals(value));
			got = isRight ? "" : answer.toString();
		}
		catch (UncheckedIOException ex) {
			got = String.valueOf(ex.getCause());
		}
		long took = System.nanoTime() - start;
		this.slowestNanos.accumulateAndGet(took, Math::max);
		if (got.isEmpty()) {
			this.succeeded.incrementAndGet();
		}
		else {
			this.failures.add("%.3f s: %s at node %d instead of %d after %d ms: %s"
				.formatted((start - this.startedNanos) / 1e9, what, node, expected, took / 1_000_000, got));
		}
	}

	public long succeeded() {
		return this.succeeded.get();
	}

	public long slowestMillis() {
		return this.slowestNanos.get() / 1_000_000;
	}

	/** Lets the requests under way end; returns those that failed. */
	public List<String> stop() throws InterruptedException {
		this.clients.stop();
		return List.copyOf(this.failures);
	}

	/** Sends nothing more. */
	@Override
	public void close() {
		this.clients.close();
	}

}
