package io.kvorum.app;

import java.util.List;

import org.reactivestreams.Publisher;
import org.springframework.context.SmartLifecycle;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

/** Work that runs from the start to the stop of one lifecycle phase. */
final class BackgroundWork implements SmartLifecycle {

	/** A phase above that of the store. */
	static final int STORE_OPEN = 1000;

	/** A phase above that of the replica port, below that of the web server. */
	static final int REPLICA_PORT_OPEN = 2000;

	private final int phase;

	private final List<Publisher<?>> works;

	private final Runnable afterStart;

	private Disposable.Composite running = Disposables.composite();

	/**
	 * Creates background work.
	 * @param phase one of the constants of this class
	 * @param works subscribed to at the start, cancelled at the stop
	 * @param afterStart runs before the next phase begins
	 */
	BackgroundWork(int phase, List<? extends Publisher<?>> works, Runnable afterStart) {
		this.phase = phase;
		this.works = List.copyOf(works);
		this.afterStart = afterStart;
	}

	/** Work that the next phase does not wait for. */
	static BackgroundWork of(int phase, Publisher<?> work) {
		return new BackgroundWork(phase, List.of(work), () -> {
		});
	}

	@Override
	public void start() {
		Disposable.Composite started = Disposables.composite();
		this.works.forEach(work -> started.add(Flux.from(work).subscribe()));
		this.running = started;
		this.afterStart.run();
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
		return this.phase;
	}

}
