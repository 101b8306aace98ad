package io.kvorum.client;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Ends a stream from which nothing comes although something is asked for. Unlike
 * {@link Flux#timeout(Duration)} it lets a slow subscriber take its time.
 */
final class SilenceWatch {

	private final Duration limit;

	private final LongSupplier nanoTime;

	/** Since when an element is waited for. */
	private volatile long sinceNanos;

	private volatile boolean isWaiting;

	SilenceWatch(Duration limit, LongSupplier nanoTime) {
		this.limit = limit;
		this.nanoTime = nanoTime;
	}

	/** Whether something is asked for and has not come. */
	boolean isWaiting() {
		return this.isWaiting;
	}

	/** Watches a stream whose subscriber asks for one element at a time. */
	<T> Flux<T> over(Flux<T> stream) {
		return stream.doOnRequest(elements -> {
			this.sinceNanos = this.nanoTime.getAsLong();
			this.isWaiting = true;
		}).doOnNext(element -> this.isWaiting = false).takeUntilOther(silence());
	}

	private Mono<Void> silence() {
		return Flux.interval(this.limit.dividedBy(4))
			.filter(tick -> this.isWaiting && this.nanoTime.getAsLong() - this.sinceNanos > this.limit.toNanos())
			.next()
			.then(Mono.error(() -> new TimeoutException("no data for " + this.limit)));
	}

}
