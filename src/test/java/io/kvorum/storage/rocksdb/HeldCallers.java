package io.kvorum.storage.rocksdb;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

import io.kvorum.storage.CallerThreads;

/**
 * Callers that can keep the committer busy: while they are held, the thread that hands
 * results back waits, and what is written meanwhile gathers in the queue.
 */
final class HeldCallers implements CallerThreads {

	private volatile CountDownLatch reached = new CountDownLatch(0);

	private volatile CountDownLatch released = new CountDownLatch(0);

	private final Executor held = this::execute;

	/** The executor of the callers; it runs what is not held. */
	volatile Executor executor = Runnable::run;

	@Override
	public Executor current() {
		return this.held;
	}

	private void execute(Runnable task) {
		this.reached.countDown();
		await(this.released);
		this.executor.execute(task);
	}

	/** From now on whoever hands results back waits. */
	void hold() {
		this.reached = new CountDownLatch(1);
		this.released = new CountDownLatch(1);
	}

	/** Returns when the committer waits. */
	void awaitHeld() {
		await(this.reached);
	}

	void release() {
		this.released.countDown();
	}

	private static void await(CountDownLatch latch) {
		if (latch.getCount() == 0) {
			// Not to be interrupted: a scheduler does that to a task that has just
			// failed.
			return;
		}
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

}
