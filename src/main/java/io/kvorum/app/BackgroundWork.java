package io.kvorum.app;

import java.util.List;

import org.reactivestreams.Publisher;
import org.springframework.context.SmartLifecycle;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

/** What a node does beside answering, while its store is open. */
final class BackgroundWork implements SmartLifecycle {

	/** Above that of the store. */
	private static final int PHASE = 1000;

	private final List<Publisher<?>> works;

	private Disposable.Composite running = Disposables.composite();

	BackgroundWork(List<Publisher<?>> works) {
		this.works = List.copyOf(works);
	}

	@Override
	public void start() {
		Disposable.Composite started = Disposables.composite();
		this.works.forEach(work -> started.add(Flux.from(work).subscribe()));
		this.running = started;
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
