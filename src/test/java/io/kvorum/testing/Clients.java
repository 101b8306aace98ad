package io.kvorum.testing;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * Several clients at once, each with keys of its own; one whose connection breaks gives
 * up, as after a crash.
 */
public final class Clients {

	private static final int COUNT = 16;

	private final Ledger ledger;

	public Clients(Ledger ledger) {
		this.ledger = ledger;
	}

	/**
	 * Writes to each key once, or until the node is gone.
	 * @param number of the write, or {@link Ledger#ABSENT}
	 * @param onAcknowledged told how many are acknowledged by now, by the client that got
	 * the latest acknowledgement
	 * @return how many were acknowledged
	 */
	public int write(KvorumClient client, List<String> keys, int number, IntConsumer onAcknowledged)
			throws InterruptedException {
		AtomicInteger acknowledged = new AtomicInteger();
		forEach(keys, (key) -> {
			if (this.ledger.write(client, key, number)) {
				onAcknowledged.accept(acknowledged.incrementAndGet());
			}
		});
		return acknowledged.get();
	}

	/** Reads each key, which has to be as the ledger says. */
	public void check(KvorumClient client, List<String> keys) throws InterruptedException {
		forEach(keys, (key) -> {
			try {
				this.ledger.check(client, key);
			}
			catch (UncheckedIOException ex) {
				throw new AssertionError("No answer for key " + key, ex);
			}
		});
	}

	private void forEach(List<String> keys, Consumer<String> operation) throws InterruptedException {
		List<Callable<Void>> clients = new ArrayList<>();
		for (int number = 0; number < COUNT; number++) {
			int first = number;
			clients.add(() -> {
				for (int i = first; i < keys.size(); i += COUNT) {
					operation.accept(keys.get(i));
				}
				return null;
			});
		}
		try (ExecutorService threads = Executors.newFixedThreadPool(COUNT)) {
			for (Future<Void> client : threads.invokeAll(clients)) {
				rethrow(client);
			}
		}
	}

	private static void rethrow(Future<Void> client) throws InterruptedException {
		try {
			client.get();
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof Error error) {
				throw error;
			}
			if (!(ex.getCause() instanceof UncheckedIOException)) {
				throw new AssertionError("A client failed", ex.getCause());
			}
		}
	}

}
