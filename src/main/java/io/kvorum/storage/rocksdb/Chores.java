package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.kvorum.storage.StorageException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The periodic work of a store, on threads of its own. */
final class Chores implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Chores.class);

	/** Two for what is long, one for what must not wait for it. */
	private static final int THREADS = 3;

	/** The pause after a failure of a chore that has to succeed once. */
	private static final Duration RETRY_INTERVAL = Duration.ofSeconds(10);

	private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(THREADS,
			Thread.ofPlatform().name("kvorum-chores-", 0).daemon().factory());

	void every(Duration interval, String what, Runnable chore) {
		var _ = this.executor.scheduleWithFixedDelay(() -> {
			var _ = runOrSayWhy(what, chore);
		}, interval.toNanos(), interval.toNanos(), TimeUnit.NANOSECONDS);
	}

	/** Runs a chore at once, and again until it succeeds. */
	void once(String what, Runnable chore) {
		once(what, chore, Duration.ZERO);
	}

	private void once(String what, Runnable chore, Duration delay) {
		var _ = this.executor.schedule(() -> {
			if (!runOrSayWhy(what, chore) && !this.executor.isShutdown()) {
				once(what, chore, RETRY_INTERVAL);
			}
		}, delay.toNanos(), TimeUnit.NANOSECONDS);
	}

	/** Whether the chore succeeded; logs the reason if not. */
	private static boolean runOrSayWhy(String what, Runnable chore) {
		try {
			chore.run();
			return true;
		}
		catch (StorageException ex) {
			logger.warn("The round of {} was given up, the next one tries again: {}", what, ex.getMessage());
		}
		catch (RuntimeException ex) {
			logger.error("The round of {} failed, the next one tries again", what, ex);
		}
		return false;
	}

	/** Interrupts the rounds that run, waits for them, and starts no other. */
	@Override
	public void close() {
		var _ = this.executor.shutdownNow();
		boolean interrupted = false;
		while (!this.executor.isTerminated()) {
			try {
				var _ = this.executor.awaitTermination(1, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				// The database must not be closed under the threads.
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

}
