package io.kvorum.storage;

import java.util.concurrent.CompletionStage;

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

}
