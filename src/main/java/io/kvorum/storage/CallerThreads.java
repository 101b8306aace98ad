package io.kvorum.storage;

import java.util.concurrent.Executor;

/**
 * Finds the executor of the calling thread, so that results that become ready together
 * are delivered together. An event loop then gets one task for a batch, not one for each
 * result.
 */
@FunctionalInterface
public interface CallerThreads {

	/** Delivers results on the thread that has them. */
	CallerThreads NONE = () -> Runnable::run;

	/** The executor that the calling thread works for. */
	Executor current();

}
