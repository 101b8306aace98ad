package io.kvorum.spring.cache;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Writes that were made on threads that must not block, so that no thread waits for them.
 * They are done one after another for each key. What this process does later with a key
 * waits for them, so that it sees its own writes.
 */
final class PendingWrites {

	private final ConcurrentMap<String, CompletableFuture<Void>> last = new ConcurrentHashMap<>();

	/** Begins a write when those of the key are done. */
	void begin(String key, Mono<Void> write) {
		CompletableFuture<Void> mine = new CompletableFuture<>();
		CompletableFuture<Void> before = this.last.put(key, mine);
		settled(before).then(write)
			.onErrorComplete()
			.doFinally(signal -> this.last.remove(key, mine))
			.subscribe(null, mine::completeExceptionally, () -> mine.complete(null));
	}

	/** Completes when the writes of the key are done that have begun by now. */
	Mono<Void> settled(String key) {
		return Mono.defer(() -> settled(this.last.get(key)));
	}

	/** Completes when all writes are done that have begun by now. */
	Mono<Void> allSettled() {
		return Mono.defer(() -> Mono.when(this.last.values().stream().map(PendingWrites::settled).toList()));
	}

	private static Mono<Void> settled(@Nullable CompletableFuture<Void> write) {
		return (write != null) ? Mono.fromFuture(write, true) : Mono.empty();
	}

}
