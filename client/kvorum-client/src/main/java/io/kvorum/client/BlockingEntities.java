package io.kvorum.client;

import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * {@link Entities} for threads that may block, virtual ones for instance. An interrupted
 * thread gives up its operation, with Reactor's exception whose cause is an
 * {@link InterruptedException}; a write may have happened then.
 *
 * @param <T> the type of values
 */
public final class BlockingEntities<T> {

	/** Entries of a range that wait to be taken. */
	private static final int READ_AHEAD = 8;

	private final Entities<T> entities;

	BlockingEntities(Entities<T> entities) {
		this.entities = entities;
	}

	/**
	 * Reads a value.
	 * @param key the key
	 * @return the value, if there is one
	 */
	public Optional<Entity<T>> get(String key) {
		return awaited(this.entities.get(key)).blockOptional();
	}

	/**
	 * Reads a value.
	 * @param key the key
	 * @param options how
	 * @return the value, if there is one
	 */
	public Optional<Entity<T>> get(String key, ReadOptions options) {
		return awaited(this.entities.get(key, options)).blockOptional();
	}

	/**
	 * Reads what is known of a value.
	 * @param key the key
	 * @return that, if there is a value
	 */
	public Optional<EntityInfo> info(String key) {
		return awaited(this.entities.info(key)).blockOptional();
	}

	/**
	 * Reads what is known of a value.
	 * @param key the key
	 * @param options how
	 * @return that, if there is a value
	 */
	public Optional<EntityInfo> info(String key, ReadOptions options) {
		return awaited(this.entities.info(key, options)).blockOptional();
	}

	/**
	 * Writes a value, whatever there was.
	 * @param key the key
	 * @param value the value
	 * @return the version of the value
	 */
	public Version put(String key, T value) {
		return put(key, value, WriteOptions.DEFAULTS);
	}

	/**
	 * Writes a value.
	 * @param key the key
	 * @param value the value
	 * @param options on which condition, for how long, how often
	 * @return the version of the value
	 */
	public Version put(String key, T value, WriteOptions options) {
		return Objects.requireNonNull(awaited(this.entities.put(key, value, options)).block());
	}

	/**
	 * Removes a value, if there is one.
	 * @param key the key
	 */
	public void delete(String key) {
		awaited(this.entities.delete(key)).block();
	}

	/**
	 * Removes a value.
	 * @param key the key
	 * @param options on which condition, how often
	 */
	public void delete(String key, WriteOptions options) {
		awaited(this.entities.delete(key, options)).block();
	}

	/**
	 * Changes a value as if nobody else did.
	 * @param key the key
	 * @param change as of {@link Entities#update(String, UnaryOperator)}; it runs on the
	 * calling thread, and may block
	 * @return what was written; empty if there is no value now
	 */
	public Optional<Entity<T>> update(String key, UnaryOperator<@Nullable T> change) {
		return update(key, change, WriteOptions.DEFAULTS);
	}

	/**
	 * Changes a value as if nobody else did.
	 * @param key the key
	 * @param change as of {@link Entities#update(String, UnaryOperator)}; it runs on the
	 * calling thread, and may block
	 * @param options without condition and idempotency key
	 * @return what was written; empty if there is no value now
	 */
	public Optional<Entity<T>> update(String key, UnaryOperator<@Nullable T> change, WriteOptions options) {
		refuseWhereNoneMayBlock();
		return this.entities.updateHere(key, change, options);
	}

	/**
	 * Reads values in the order of their keys.
	 * @param range which keys
	 * @return the values; to be closed, unless it is read to its end
	 */
	public Stream<Entity<T>> range(Range range) {
		refuseWhereNoneMayBlock();
		return this.entities.range(range).toStream(READ_AHEAD);
	}

	/**
	 * Lists keys in their order, without their values.
	 * @param range which keys, and whether they are folded into folders
	 * @return what is known of them; to be closed, unless it is read to its end
	 */
	public Stream<EntityInfo> list(Range range) {
		refuseWhereNoneMayBlock();
		return this.entities.list(range).toStream(READ_AHEAD);
	}

	private static <X> Mono<X> awaited(Mono<X> operation) {
		refuseWhereNoneMayBlock();
		return operation;
	}

	/** Before anything is sent: Reactor refuses to block, but not what it waits for. */
	private static void refuseWhereNoneMayBlock() {
		if (Schedulers.isInNonBlockingThread()) {
			throw new IllegalStateException("The thread %s must not block, so it sends nothing: use Entities there"
				.formatted(Thread.currentThread().getName()));
		}
	}

}
