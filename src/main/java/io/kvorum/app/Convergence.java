package io.kvorum.app;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.kvorum.replication.antientropy.RepairLog;
import io.kvorum.replication.rejoin.Rejoin;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

import org.springframework.context.SmartLifecycle;

/**
 * Makes this node equal to the others for as long as its replica port is open, and lets
 * it find out whether it may be believed before it is ready.
 */
final class Convergence implements SmartLifecycle {

	/** Above that of the replica port, below that of the web server. */
	private static final int PHASE = 2000;

	/**
	 * A new cluster is agreed upon by then, if all of its nodes are there; a node that
	 * has to be rebuilt is ready before that is done, and serves what the others have.
	 */
	private static final Duration BELIEF_TIMEOUT = Duration.ofSeconds(2);

	private final RepairLog log;

	private final List<Publisher<?>> works;

	/** Null for a node alone. */
	private final @Nullable Rejoin rejoin;

	private final ConvergenceThread thread;

	private Disposable.Composite running = Disposables.composite();

	Convergence(RepairLog log, @Nullable Rejoin rejoin, List<Publisher<?>> works, ConvergenceThread thread) {
		this.log = log;
		this.rejoin = rejoin;
		this.works = List.copyOf(works);
		this.thread = thread;
	}

	@Override
	public void start() {
		this.log.load();
		Disposable.Composite started = Disposables.composite();
		this.works.forEach(work -> started.add(Flux.from(work).subscribeOn(this.thread.scheduler()).subscribe()));
		this.running = started;
		if (this.rejoin != null) {
			awaitBelief(this.rejoin);
		}
	}

	private static void awaitBelief(Rejoin rejoin) {
		try {
			var _ = rejoin.believed().await(BELIEF_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException _) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void stop() {
		this.running.dispose();
	}

	@Override
	public boolean isRunning() {
		return this.running.size() > 0 && !this.running.isDisposed();
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
