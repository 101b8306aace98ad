package io.kvorum.storage;

import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What a node remembers of itself beside its entries. */
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

	/** Whether nothing was stored when the store was opened. */
	boolean isNew();

	/**
	 * What was recorded under a name, before the store was opened or since; null where
	 * nothing was.
	 */
	byte @Nullable [] recorded(String name);

	/**
	 * Records something small under a name, in the place of what was there. Completes
	 * when it is on disk, whatever the {@link Durability}.
	 * @param value not to be changed afterwards
	 */
	Mono<Void> record(String name, byte[] value);

}
