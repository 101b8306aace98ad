package io.kvorum.operation;

import java.time.Duration;

import io.kvorum.kv.Replicas;
import org.jspecify.annotations.Nullable;

/**
 * How a write is done.
 *
 * @param replicas how many copies to keep, and how many of them to wait for
 * @param condition what must hold of the key; {@link Condition#NONE} for nothing
 * @param idempotencyKey identifies the write, so that it happens once however often it is
 * repeated; null if it has no such key
 * @param timeout the longest time that the caller waits; null for that of the store,
 * which it does not exceed
 */
public record WriteOptions(Replicas replicas, Condition condition, @Nullable IdempotencyKey idempotencyKey,
		@Nullable Duration timeout) {

	/** A write without a condition and without an idempotency key. */
	public static WriteOptions of(Replicas replicas) {
		return of(replicas, Condition.NONE);
	}

	/** A write without an idempotency key. */
	public static WriteOptions of(Replicas replicas, Condition condition) {
		return new WriteOptions(replicas, condition, null, null);
	}

}
