package io.kvorum.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/**
 * Threads that do the same again and again until they are stopped. What one of them
 * throws ends it, and is thrown again by {@link #stop()}.
 */
public final class Workers implements AutoCloseable {

	private final CountDownLatch stopped = new CountDownLatch(1);

	private final List<FutureTask<?>> tasks = new ArrayList<>();

	/**
	 * One more.
	 * @param maxPauseMillis it pauses after each round, up to so long: the nodes need the
	 * cores, too
	 * @param work of a round, which is given its number, from 0 on
	 */
	public void start(int maxPauseMillis, IntConsumer work) {
		FutureTask<?> task = new FutureTask<>(() -> {
			int round = 0;
			do {
				work.accept(round++);
			}
			while (!isStoppedWithin(maxPauseMillis));
			return null;
		});
		this.tasks.add(task);
		Thread.ofVirtual().start(task);
	}

	private boolean isStoppedWithin(int maxMillis) throws InterruptedException {
		return this.stopped.await(ThreadLocalRandom.current().nextInt(maxMillis + 1), TimeUnit.MILLISECONDS);
	}

	/** Lets the rounds under way end. */
	public void stop() throws InterruptedException {
		close();
		for (FutureTask<?> task : this.tasks) {
			try {
				task.get();
			}
			catch (ExecutionException ex) {
				throw new AssertionError("A thread ended: " + ex.getCause(), ex.getCause());
			}
		}
	}

	/** Begins no more rounds. */
	@Override
	public void close() {
		this.stopped.countDown();
	}

}
