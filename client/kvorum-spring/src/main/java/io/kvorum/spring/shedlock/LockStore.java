package io.kvorum.spring.shedlock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.LongSupplier;

import io.kvorum.client.Entities;
import io.kvorum.client.Entity;
import io.kvorum.client.Version;
import io.kvorum.client.WriteOptions;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The keys of locks. Each write has an idempotency key.
 * <p>
 * A thread that is interrupted still waits for the answer, at most for the deadline of
 * the client. Else a task that was interrupted could not give back its lock, and an
 * interrupted taker would leave one without a holder.
 */
final class LockStore {

	private static final Duration LONGEST = Duration.ofDays(3650);

	private final Entities<String> owners;

	private final String prefix;

	private final LongSupplier nanoTime;

	LockStore(Entities<String> owners, String prefix, LongSupplier nanoTime) {
		this.owners = owners;
		this.prefix = prefix;
		this.nanoTime = nanoTime;
	}

	/** As {@link System#nanoTime()}. */
	long nanoTime() {
		return this.nanoTime.getAsLong();
	}

	Version put(String name, String owner, WriteOptions options, Duration ttl) {
		Duration limited = (ttl.compareTo(LONGEST) > 0) ? LONGEST : ttl;
		return Objects.requireNonNull(await(this.owners.put(this.prefix + name, owner, options.ttl(limited).once())));
	}

	void delete(String name, Version version) {
		await(deletion(name, version));
	}

	Mono<Void> deletion(String name, Version version) {
		return Mono
			.defer(() -> this.owners.delete(this.prefix + name, WriteOptions.DEFAULTS.ifVersion(version).once()));
	}

	/** The version of a lock, if this owner still holds it. */
	Optional<Version> heldBy(String name, String owner) {
		return Optional.ofNullable(await(
				this.owners.get(this.prefix + name).filter(lock -> lock.value().equals(owner)).map(Entity::version)));
	}

	private static <T> @Nullable T await(Mono<T> operation) {
		if (Schedulers.isInNonBlockingThread()) {
			throw new IllegalStateException(
					"locks block, which the thread %s must not".formatted(Thread.currentThread().getName()));
		}
		try {
			return operation.toFuture().join();
		}
		catch (CompletionException ex) {
			throw Exceptions.propagate((ex.getCause() != null) ? ex.getCause() : ex);
		}
	}

}
