package io.kvorum.storage;

import java.util.concurrent.Executor;

/**
 * Finds the executor of the calling thread, so that results that become ready together
 * are handed back together: one task for an event loop and a batch, not one for each
 * result.
 */
@FunctionalInterface
public interface CallerThreads {

	/** Hands results over on the thread that has them. */
	CallerThreads NONE = () -> Runnable::run;

	/** The executor that the calling thread works for. */
	Executor current();

}
