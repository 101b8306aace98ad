package io.kvorum.operation;

import io.kvorum.kv.Replicas;
import org.jspecify.annotations.Nullable;

/**
 * How a write is done.
 *
 * @param replicas how many copies to keep, and how many of them to wait for
 * @param condition what must hold of the key; {@link Condition#NONE} for nothing
 * @param idempotencyKey names the write, so that it happens once however often it is
 * repeated; null if it has no name
 */
public record WriteOptions(Replicas replicas, Condition condition, @Nullable IdempotencyKey idempotencyKey) {

	/** A write without a condition and without a name. */
	public static WriteOptions of(Replicas replicas) {
		return of(replicas, Condition.NONE);
	}

	/** A write without a name. */
	public static WriteOptions of(Replicas replicas, Condition condition) {
		return new WriteOptions(replicas, condition, null);
	}

}
