package io.kvorum.storage;

import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Facts that a node stores about itself beside its entries. */
public interface NodeRecord {

	/**
	 * The random identity that this store got when it was created or restored from a
	 * copy. A different one means another disk, an emptied one, or a restored copy.
	 */
	long identity();

	/** The last stored bound of the clock, in milliseconds since 1970; 0 without one. */
	long clockBoundMillis();

	/**
	 * Stores the bound of the clock. Completes when it is on disk, whatever the
	 * {@link Durability}.
	 */
	CompletionStage<?> storeClockBound(long millis);

	/** Whether the store had no entries when it was opened. */
	boolean isNew();

	/**
	 * The value recorded under a name, before the store was opened or since; null without
	 * one.
	 */
	byte @Nullable [] recorded(String name);

	/**
	 * Records a small value under a name, and replaces the previous one. Completes when
	 * it is on disk, whatever the {@link Durability}.
	 * @param value must not be changed afterwards
	 */
	Mono<Void> record(String name, byte[] value);

}
