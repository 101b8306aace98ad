package io.kvorum.spring.cache;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;

/**
 * Writes that were made on threads that must not block, so that no thread waits for them.
 * For each key one is under way and at most one waits for it, the last: those between are
 * overwritten anyway. What this process does later with a key waits for both, so that it
 * sees its own writes.
 */
final class PendingWrites {

	private final ConcurrentMap<String, Writes> byKey = new ConcurrentHashMap<>();

	/** The writes of a key; what waits is changed within the map only. */
	private static final class Writes {

		/** Completes when none is left. */
		private final CompletableFuture<Void> done = new CompletableFuture<>();

		private @Nullable Mono<Void> waiting;

		@Nullable Mono<Void> take() {
			Mono<Void> taken = this.waiting;
			this.waiting = null;
			return taken;
		}

	}

	/** Begins a write, or has it wait in the place of another. */
	void begin(String key, Mono<Void> write) {
		Writes mine = new Writes();
		Writes writes = this.byKey.compute(key, (any, present) -> {
			Writes found = (present != null) ? present : mine;
			found.waiting = write;
			return found;
		});
		if (writes.equals(mine)) {
			Flux.<Mono<Void>>generate(sink -> next(key, sink))
				.concatMap(Mono::onErrorComplete, 0)
				.subscribe(null, mine.done::completeExceptionally, () -> mine.done.complete(null));
		}
	}

	private void next(String key, SynchronousSink<Mono<Void>> sink) {
		this.byKey.compute(key, (any, writes) -> {
			Mono<Void> next = (writes != null) ? writes.take() : null;
			if (next == null) {
				sink.complete();
				return null;
			}
			sink.next(next);
			return writes;
		});
	}

	/** Completes when the writes of the key are done that have begun by now. */
	Mono<Void> settled(String key) {
		return Mono.defer(() -> settled(this.byKey.get(key)));
	}

	/** Completes when all writes are done that have begun by now. */
	Mono<Void> allSettled() {
		return Mono.defer(() -> Mono.when(this.byKey.values().stream().map(PendingWrites::settled).toList()));
	}

	private static Mono<Void> settled(@Nullable Writes writes) {
		return (writes != null) ? Mono.fromFuture(writes.done, true) : Mono.empty();
	}

}
