package io.kvorum.bench;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;

import io.kvorum.storage.CallerThreads;

/**
 * The thread of a benchmark as an event loop: it asks the engine, and the engine hands
 * results back to it, those of one batch as one task. In a node that is done by an event
 * loop of Netty.
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

	/** Waits for what is handed back, and takes it. */
	void runOne() throws InterruptedException {
		this.tasks.take().run();
	}

}
