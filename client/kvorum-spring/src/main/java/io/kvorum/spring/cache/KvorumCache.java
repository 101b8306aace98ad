package io.kvorum.spring.cache;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

import io.kvorum.client.Entities;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.spring.cache.Flights.Flight;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.support.AbstractValueAdaptingCache;
import org.springframework.core.NestedExceptionUtils;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A cache in Kvorum. Made by a {@link KvorumCacheManager}.
 * <p>
 * <b>Failures.</b> What Kvorum cannot do is thrown, as a
 * {@link io.kvorum.client.KvorumException}; what cannot be read or written is thrown by
 * the codec. Spring's {@link org.springframework.cache.interceptor.CacheErrorHandler}
 * decides what happens then: by default the call of the application fails, and with
 * {@link org.springframework.cache.interceptor.LoggingCacheErrorHandler} it goes on
 * without the cache. A put that fails may have happened, and may happen later: only the
 * time to live bounds how long an old value can stay.
 * <p>
 * <b>Threads.</b> {@code retrieve} never blocks. Where there is no value, its future
 * completes, and its loader is called, on a thread that may block; values come on the
 * threads of the connections. {@code put}, {@code evict} and {@code clear} wait until
 * they are done, but not on threads that must not block, such as the event loops of
 * Reactor: there they only begin, and a failure is logged. What this process does later
 * with the same key waits for a put or an eviction that has begun, but not for a clear.
 * All other methods block.
 * <p>
 * <b>Loading.</b> If several threads of this process call {@code get} or {@code retrieve}
 * with a loader for one key at the same time, one of them reads or loads the value, and
 * the others wait for it. If the thread that loads is interrupted, one of the others
 * loads instead. Other processes may load it at the same time. A loaded value is stored
 * only if there is none by then, and not if its key was put or evicted in this process
 * meanwhile. If it cannot be stored, that is logged, and the value is used. As with other
 * caches beside a database, a value that was loaded before a change and stored after the
 * eviction by another process stays until its time to live is over.
 */
public final class KvorumCache extends AbstractValueAdaptingCache {

	private static final Log logger = LogFactory.getLog(KvorumCache.class);

	/** Nothing, on a thread that may block: what is called then may be anything. */
	private static final Mono<Object> MISS = Mono.empty().subscribeOn(Schedulers.boundedElastic());

	private final String name;

	private final CacheEntries entries;

	private final CacheKeys keys;

	private final KvorumCacheSettings settings;

	private final Flights flights = new Flights();

	private final PendingWrites pending = new PendingWrites();

	private final Counters counters = new Counters();

	KvorumCache(KvorumClient client, CacheKeys keys, String name, KvorumCacheSettings settings) {
		super(settings.allowsNullValues());
		this.name = name;
		this.keys = keys;
		this.settings = settings;
		this.entries = new CacheEntries(client, settings);
	}

	@Override
	public String getName() {
		return this.name;
	}

	/**
	 * The values of all caches with this codec, by their keys in Kvorum.
	 * @return the operations of the client
	 */
	@Override
	public Entities<Object> getNativeCache() {
		return this.entries.values();
	}

	/**
	 * What this cache has done in this process.
	 * @return the numbers so far
	 */
	public KvorumCacheStatistics statistics() {
		return this.counters.snapshot();
	}

	private String key(Object key) {
		return this.keys.key(this.settings.text(key));
	}

	@Override
	protected @Nullable Object lookup(Object key) {
		return find(key(key)).block();
	}

	private Mono<Object> find(String key) {
		return this.pending.settled(key)
			.then(Mono.defer(() -> this.entries.find(key)))
			.doOnSuccess(found -> this.counters.read(found != null));
	}

	@Override
	@SuppressWarnings("unchecked")
	public <T> @Nullable T get(Object key, Callable<T> valueLoader) {
		if (Schedulers.isInNonBlockingThread()) {
			throw new IllegalStateException("get with a loader blocks, which the thread %s must not: retrieve does not"
				.formatted(Thread.currentThread().getName()));
		}
		String id = key(key);
		Object value = null;
		while (value == null) {
			Flight flight = new Flight(Thread.currentThread());
			Flight other = this.flights.begin(id, flight);
			if (other == null) {
				load(id, flight, valueLoader);
			}
			else if (other.isOfThisThread()) {
				throw new IllegalStateException("the loader of the key %s asks for the same key".formatted(key));
			}
			value = await((other != null) ? other : flight, key, valueLoader);
		}
		return (T) fromStoreValue(value);
	}

	/** Loads on this thread: a loader may block. */
	private void load(String key, Flight flight, Callable<?> loader) {
		try {
			Object found = find(key).block();
			Object value = (found != null) ? found : storeLoaded(key, flight, called(loader, flight)).block();
			this.flights.end(key, flight);
			flight.result().complete(Objects.requireNonNull(value));
		}
		catch (Exception | Error ex) {
			if (ex instanceof InterruptedException) {
				Thread.currentThread().interrupt();
			}
			if (Thread.currentThread().isInterrupted()
					|| NestedExceptionUtils.getMostSpecificCause(ex) instanceof InterruptedException) {
				flight.abandon();
			}
			this.flights.end(key, flight);
			flight.result().completeExceptionally(ex);
		}
	}

	private Object called(Callable<?> loader, Flight flight) throws Exception {
		try {
			return toStoreValue(loader.call());
		}
		catch (Exception | Error ex) {
			flight.loaderFailed();
			throw ex;
		}
	}

	/**
	 * Waits for a value. The thread that loads comes here, too, when it has.
	 * @return null if another thread was to load the value and was interrupted: then this
	 * one begins again
	 */
	private static @Nullable Object await(Flight flight, Object key, Callable<?> loader) {
		try {
			return flight.result().get();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("interrupted while another thread loads the key " + key, ex);
		}
		catch (ExecutionException ex) {
			if (flight.isAbandoned() && !flight.isOfThisThread()) {
				return null;
			}
			Throwable failure = ex.getCause();
			if (flight.hasLoaderFailed()) {
				throw new ValueRetrievalException(key, loader, failure);
			}
			throw Exceptions.propagate((failure != null) ? failure : ex);
		}
	}

	@Override
	public CompletableFuture<?> retrieve(Object key) {
		return find(key(key)).switchIfEmpty(MISS).mapNotNull(this::toValueWrapper).toFuture();
	}

	@Override
	@SuppressWarnings("unchecked")
	public <T> CompletableFuture<T> retrieve(Object key, Supplier<CompletableFuture<T>> valueLoader) {
		// A future of its own: to cancel it must not end the others.
		CompletableFuture<T> result = new CompletableFuture<>();
		joined(key(key), valueLoader).subscribe(value -> result.complete((T) fromStoreValue(value)),
				result::completeExceptionally);
		return result;
	}

	private <T> Mono<Object> joined(String key, Supplier<CompletableFuture<T>> loader) {
		Flight flight = new Flight(null);
		Flight other = this.flights.begin(key, flight);
		if (other == null) {
			load(key, flight, loader);
		}
		Flight joined = (other != null) ? other : flight;
		return Mono.fromFuture(joined.result(), true)
			.onErrorResume(failure -> joined.isAbandoned() ? joined(key, loader) : Mono.error(failure));
	}

	private <T> void load(String key, Flight flight, Supplier<CompletableFuture<T>> loader) {
		Mono<Object> loading = Mono.defer(() -> Mono.<Object>fromFuture(begun(loader)))
			.switchIfEmpty(Mono.fromCallable(() -> toStoreValue(null)))
			.doOnError(failure -> flight.loaderFailed())
			.flatMap(value -> storeLoaded(key, flight, value));
		find(key).switchIfEmpty(MISS)
			.switchIfEmpty(loading)
			.doOnTerminate(() -> this.flights.end(key, flight))
			.subscribe(flight.result()::complete, flight.result()::completeExceptionally);
	}

	/**
	 * Reactor would throw an error of linking, and those who wait would do so for ever.
	 */
	private static <T> CompletableFuture<T> begun(Supplier<CompletableFuture<T>> loader) {
		try {
			return loader.get();
		}
		catch (LinkageError | StackOverflowError ex) {
			return CompletableFuture.failedFuture(new IllegalStateException("the value cannot be loaded", ex));
		}
	}

	private Mono<Object> storeLoaded(String key, Flight flight, Object value) {
		if (flight.isOutdated()) {
			return Mono.just(value);
		}
		return Mono.defer(() -> this.entries.putLoaded(key, value)).flatMap(version -> {
			this.counters.put();
			// Written or removed while this was under way: the value may be an old one.
			return flight.isOutdated() ? this.entries.remove(key, version) : Mono.empty();
		}).onErrorResume(RuntimeException.class, failure -> {
			// All who wait would load it again, when loading is all that still works.
			logger.warn("A loaded value is used, and not stored in the cache " + this.name, failure);
			return Mono.empty();
		}).thenReturn(value);
	}

	@Override
	public void put(Object key, @Nullable Object value) {
		String id = key(key);
		Object stored = toStoreValue(value);
		change("put", id, this.entries.put(id, stored).doOnSuccess(done -> this.counters.put()));
	}

	/**
	 * Puts a value if there is none. Of all processes that try, one does.
	 * @param key the key
	 * @param value the value
	 * @return the value that was there; null if this one was put
	 */
	@Override
	public @Nullable ValueWrapper putIfAbsent(Object key, @Nullable Object value) {
		if (Schedulers.isInNonBlockingThread()) {
			throw new IllegalStateException(
					"putIfAbsent blocks, which the thread %s must not".formatted(Thread.currentThread().getName()));
		}
		String id = key(key);
		Object existing = this.pending.settled(id)
			.then(Mono.defer(() -> this.entries.putIfAbsent(id, toStoreValue(value))))
			.block();
		if (existing == null) {
			this.flights.outdate(id);
			this.counters.put();
		}
		return toValueWrapper(existing);
	}

	@Override
	public void evict(Object key) {
		String id = key(key);
		change("evict", id, this.entries.delete(id).doOnSuccess(done -> this.counters.evicted(1)));
	}

	@Override
	public boolean evictIfPresent(Object key) {
		String id = key(key);
		if (Schedulers.isInNonBlockingThread()) {
			// Nobody may wait to know, which this method may say by false.
			evict(key);
			return false;
		}
		this.flights.outdate(id);
		boolean wasThere = Boolean.TRUE.equals(this.pending.settled(id).then(this.entries.deleteIfPresent(id)).block());
		this.flights.outdate(id);
		this.counters.evicted(wasThere ? 1 : 0);
		return wasThere;
	}

	/**
	 * Writes a key. Flights are outdated before that, so that they do not store an old
	 * value afterwards, and once more behind it: those that began meanwhile may have read
	 * the old value.
	 */
	private void change(String what, String key, Mono<Void> write) {
		this.flights.outdate(key);
		Mono<Void> outdating = write.doOnTerminate(() -> this.flights.outdate(key));
		if (Schedulers.isInNonBlockingThread()) {
			this.pending.begin(key, outdating.doOnError(failure -> logger
				.warn("%s of the key %s has failed, and no thread waited for it".formatted(what, key), failure)));
		}
		else {
			this.pending.settled(key).then(outdating).block();
		}
	}

	/**
	 * Removes all entries: lists their keys and deletes them, a few at a time. Not at one
	 * moment: a value that is put meanwhile may stay or be removed. In front of Cassandra
	 * keys cannot be listed: there it fails.
	 */
	@Override
	public void clear() {
		if (Schedulers.isInNonBlockingThread()) {
			removeAll().subscribe(null, failure -> logger
				.warn("clear of the cache %s has failed, and no thread waited for it".formatted(this.name), failure));
		}
		else {
			removeAll().block();
		}
	}

	/**
	 * As {@link #clear()}.
	 * @return whether there were entries; false on threads that must not block, where it
	 * only begins
	 */
	@Override
	public boolean invalidate() {
		if (Schedulers.isInNonBlockingThread()) {
			clear();
			return false;
		}
		Long removed = removeAll().block();
		return removed != null && removed > 0;
	}

	private Mono<Long> removeAll() {
		return Mono.defer(() -> {
			this.flights.outdateAll();
			return this.pending.allSettled().then(this.entries.deleteAll(this.keys.folder()));
		}).doOnTerminate(this.flights::outdateAll).doOnNext(this.counters::evicted);
	}

}
