package io.kvorum.storage.rocksdb;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.kvorum.storage.StorageException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Periodic and background tasks of a store, on threads of their own. */
final class BackgroundTasks implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(BackgroundTasks.class);

	/** Two for long tasks, one for a task that must not wait for them. */
	private static final int THREADS = 3;

	/** The delay before a task that is to succeed once is tried again. */
	private static final Duration RETRY_INTERVAL = Duration.ofSeconds(10);

	private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(THREADS,
			Thread.ofPlatform().name("kvorum-chores-", 0).daemon().factory());

	void every(Duration interval, String what, Runnable task) {
		var _ = this.executor.scheduleWithFixedDelay(() -> {
			var _ = runOrSayWhy(what, task);
		}, interval.toNanos(), interval.toNanos(), TimeUnit.NANOSECONDS);
	}

	/** Runs a task at once, and again until it succeeds. */
	void once(String what, Runnable task) {
		once(what, task, Duration.ZERO);
	}

	private void once(String what, Runnable task, Duration delay) {
		var _ = this.executor.schedule(() -> {
			if (!runOrSayWhy(what, task) && !this.executor.isShutdown()) {
				once(what, task, RETRY_INTERVAL);
			}
		}, delay.toNanos(), TimeUnit.NANOSECONDS);
	}

	/** Runs a task and logs its failure; false if it failed. */
	private static boolean runOrSayWhy(String what, Runnable task) {
		try {
			task.run();
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

	/** Interrupts the running tasks, waits for them, and starts no other. */
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
