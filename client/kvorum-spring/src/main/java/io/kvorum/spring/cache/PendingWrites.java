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

	/** A write, and those that it has replaced. */
	private static final class Slot {

		private final CompletableFuture<Void> done = new CompletableFuture<>();

		private Mono<Void> write;

		Slot(Mono<Void> write) {
			this.write = write;
		}

	}

	/** The writes of a key, changed within the map only. */
	private static final class Writes {

		private volatile @Nullable Slot underWay;

		private volatile @Nullable Slot waiting;

		void add(Mono<Void> write) {
			Slot replaced = this.waiting;
			if (replaced != null) {
				replaced.write = write;
			}
			else {
				this.waiting = new Slot(write);
			}
		}

		@Nullable Slot take() {
			Slot taken = this.waiting;
			// In this order, so that a reader misses neither.
			this.underWay = taken;
			this.waiting = null;
			return taken;
		}

		@Nullable Slot last() {
			Slot next = this.waiting;
			return (next != null) ? next : this.underWay;
		}

	}

	/** Begins a write, or has it wait in the place of another. */
	void begin(String key, Mono<Void> write) {
		Writes mine = new Writes();
		Writes writes = this.byKey.compute(key, (any, present) -> {
			Writes found = (present != null) ? present : mine;
			found.add(write);
			return found;
		});
		if (writes.equals(mine)) {
			Flux.<Slot>generate(sink -> next(key, sink)).concatMap(PendingWrites::carryOut, 0).subscribe();
		}
	}

	private static Mono<Void> carryOut(Slot slot) {
		return slot.write.onErrorComplete().doFinally(signal -> slot.done.complete(null));
	}

	private void next(String key, SynchronousSink<Slot> sink) {
		this.byKey.compute(key, (any, writes) -> {
			Slot next = (writes != null) ? writes.take() : null;
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
		return Mono.defer(() -> {
			Writes writes = this.byKey.get(key);
			Slot last = (writes != null) ? writes.last() : null;
			return (last != null) ? Mono.fromFuture(last.done, true) : Mono.empty();
		});
	}

	/** Completes when all writes are done that have begun by now. */
	Mono<Void> allSettled() {
		return Mono.defer(() -> Mono.when(this.byKey.keySet().stream().map(this::settled).toList()));
	}

}
