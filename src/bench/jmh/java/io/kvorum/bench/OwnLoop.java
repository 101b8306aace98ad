package io.kvorum.bench;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;

import io.kvorum.storage.CallerThreads;

/**
 * The thread of a benchmark as an event loop: it calls the engine, and the engine hands
 * results back to it, those of one batch as one task. A node uses Netty's event loops
 * instead.
 */
final class OwnLoop implements CallerThreads, Executor {

	private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

	@Override
	public Executor current() {
		return this;
	}

	@Override
	public void execute(Runnable task) {
		this.tasks.add(task);
	}

	/** Waits for results and takes them. */
	void runOne() throws InterruptedException {
		this.tasks.take().run();
	}

}
