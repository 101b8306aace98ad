package io.kvorum.clock;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.kvorum.clock.HybridLogicalClock.BoundStore;

/**
 * A disk for the bound of a clock that does what a test says: stores at once, or only
 * when told to, or fails.
 */
final class SteeredBounds implements BoundStore {

	/** Why a store fails. */
	static final class DiskFull extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	private record Store(long millis, CompletableFuture<Void> done) {
	}

	private final Deque<Store> waiting = new ArrayDeque<>();

	private boolean held;

	private long storedMillis;

	private int stores;

	/** Lets stores wait until {@link #storeWaiting()} or {@link #failWaiting()}. */
	void hold() {
		this.held = true;
	}

	/** Stores what waits, and what comes from now on at once. */
	void storeWaiting() {
		this.held = false;
		while (!this.waiting.isEmpty()) {
			Store store = this.waiting.remove();
			this.storedMillis = store.millis;
			store.done.complete(null);
		}
	}

	void failWaiting() {
		while (!this.waiting.isEmpty()) {
			this.waiting.remove().done.completeExceptionally(new DiskFull());
		}
	}

	/** What a crash does: what waits is not stored, and nobody hears of it. */
	void forgetWaiting() {
		this.waiting.clear();
		this.held = false;
	}

	@Override
	public synchronized CompletionStage<?> store(long boundMillis) {
		this.stores++;
		CompletableFuture<Void> done = new CompletableFuture<>();
		if (this.held) {
			this.waiting.add(new Store(boundMillis, done));
		}
		else {
			this.storedMillis = boundMillis;
			done.complete(null);
		}
		return done;
	}

	/** What is on disk. */
	synchronized long storedMillis() {
		return this.storedMillis;
	}

	/** How often something was to be stored. */
	int stores() {
		return this.stores;
	}

	int waiting() {
		return this.waiting.size();
	}

}
