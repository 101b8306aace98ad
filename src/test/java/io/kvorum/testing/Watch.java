package io.kvorum.testing;

import java.io.UncheckedIOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiPredicate;

/**
 * Clients that read the same keys again and again at the default level, at any node,
 * until they are stopped; they note every answer that is not as it has to be.
 */
public final class Watch implements AutoCloseable {

	private static final int MAX_PAUSE_MILLIS = 4;

	private final List<String> keys;

	private final BiPredicate<String, Answer> isRight;

	private final Workers clients = new Workers();

	private final AtomicLong reads = new AtomicLong();

	private final Queue<String> failures = new ConcurrentLinkedQueue<>();

	private final long startedNanos = System.nanoTime();

	/** Nobody reads yet. */
	public Watch(List<String> keys, BiPredicate<String, Answer> isRight) {
		this.keys = List.copyOf(keys);
		this.isRight = isRight;
	}

	/** Keys that nobody has a value for. */
	public static Watch absent(List<String> keys) {
		return new Watch(keys, (_, answer) -> answer.status() == 404);
	}

	/** One more client, which reads at these nodes in turn from now on. */
	public Watch at(Cluster cluster, Integer... nodes) {
		this.clients.start(MAX_PAUSE_MILLIS, round -> {
			int node = nodes[round % nodes.length];
			read(cluster.client(node), node, this.keys.get((round / nodes.length) % this.keys.size()));
		});
		return this;
	}

	private void read(KvorumClient client, int node, String key) {
		String got = "";
		try {
			Answer answer = client.get(key);
			got = this.isRight.test(key, answer) ? "" : answer.toString();
		}
		catch (UncheckedIOException ex) {
			got = String.valueOf(ex.getCause());
		}
		this.reads.incrementAndGet();
		if (!got.isEmpty()) {
			this.failures.add("%.3f s: GET %s at node %d: %s".formatted((System.nanoTime() - this.startedNanos) / 1e9,
					key, node, got));
		}
	}

	public long reads() {
		return this.reads.get();
	}

	/** Lets the reads under way end; returns those that went wrong. */
	public List<String> stop() throws InterruptedException {
		this.clients.stop();
		return List.copyOf(this.failures);
	}

	/** Reads nothing more. */
	@Override
	public void close() {
		this.clients.close();
	}

}
