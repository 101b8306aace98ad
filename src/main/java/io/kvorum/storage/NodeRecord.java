package io.kvorum.storage;

import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The facts that a node remembers about itself, beside its entries. */
public interface NodeRecord {

	/**
	 * The random identity that this store was given when it was made. Another one means
	 * another, or an emptied, disk.
	 */
	long identity();

	/** The bound of the clock that was stored last, in milliseconds since 1970; or 0. */
	long clockBoundMillis();

	/** Completes when the bound is on disk, whatever the {@link Durability}. */
	CompletionStage<?> storeClockBound(long millis);

	/** Whether the store was empty when it was opened. */
	boolean isNew();

	/**
	 * The value recorded under a name, before the store was opened or since; null if
	 * there is none.
	 */
	byte @Nullable [] recorded(String name);

	/**
	 * Records a small value under a name and replaces the previous one. Completes when it
	 * is on disk, whatever the {@link Durability}.
	 * @param value not changed afterwards
	 */
	Mono<Void> record(String name, byte[] value);

}
