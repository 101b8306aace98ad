package io.kvorum.app;

import java.util.concurrent.ScheduledThreadPoolExecutor;

import io.kvorum.replication.Alarms;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The only thread of convergence. Replies return to this thread, so its work needs no
 * locks. It takes at most one core from requests.
 */
final class ConvergenceThread implements AutoCloseable {

	private final ScheduledThreadPoolExecutor executor;

	private final Scheduler scheduler;

	ConvergenceThread(EventLoopCallers callers) {
		this.executor = new ScheduledThreadPoolExecutor(1,
				Thread.ofPlatform().name("kvorum-convergence").daemon().factory());
		this.executor.setRemoveOnCancelPolicy(true);
		this.executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		this.executor.execute(() -> callers.learn(this.executor));
		this.scheduler = Schedulers.fromExecutorService(this.executor, "kvorum-convergence");
	}

	Scheduler scheduler() {
		return this.scheduler;
	}

	Alarms alarms() {
		return time -> Mono.delay(time, this.scheduler);
	}

	@Override
	public void close() {
		this.executor.shutdownNow();
	}

}
