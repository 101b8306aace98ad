package io.kvorum.spring.cache;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

/**
 * Values that are being read or loaded in this process, so that the others who want them
 * wait instead of loading them too.
 */
final class Flights {

	private final ConcurrentMap<String, Flight> byKey = new ConcurrentHashMap<>();

	/** A value that is being read or loaded. */
	static final class Flight {

		/** The thread that loads; null if loading does not block one. */
		private final @Nullable Thread thread;

		private final CompletableFuture<Object> result = new CompletableFuture<>();

		private volatile boolean isOutdated;

		private volatile boolean hasLoaderFailed;

		private volatile boolean isAbandoned;

		Flight(@Nullable Thread thread) {
			this.thread = thread;
		}

		CompletableFuture<Object> result() {
			return this.result;
		}

		/**
		 * Whether the key was written meanwhile, so that the value must not be stored.
		 */
		boolean isOutdated() {
			return this.isOutdated;
		}

		boolean isOfThisThread() {
			return this.thread == Thread.currentThread();
		}

		/** Whether the failure of the result is that of the loader, not of the cache. */
		boolean hasLoaderFailed() {
			return this.hasLoaderFailed;
		}

		void loaderFailed() {
			this.hasLoaderFailed = true;
		}

		/** Whether the failure is an interrupt, which concerns only the thread itself. */
		boolean isAbandoned() {
			return this.isAbandoned;
		}

		void abandon() {
			this.isAbandoned = true;
		}

	}

	/** Begins a flight; the other one if one is under way. */
	@Nullable Flight begin(String key, Flight flight) {
		return this.byKey.putIfAbsent(key, flight);
	}

	/** No one joins the flight any more. */
	void end(String key, Flight flight) {
		this.byKey.remove(key, flight);
	}

	/** The key is written: a flight under way may bring an old value. */
	void outdate(String key) {
		Flight flight = this.byKey.remove(key);
		if (flight != null) {
			flight.isOutdated = true;
		}
	}

	/** All keys are removed. */
	void outdateAll() {
		this.byKey.keySet().forEach(this::outdate);
	}

}
