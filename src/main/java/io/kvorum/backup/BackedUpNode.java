package io.kvorum.backup;

import org.jspecify.annotations.Nullable;

/** The facts about a node that a backup records. Called by the thread that makes it. */
public interface BackedUpNode {

	Origin origin();

	/** The identity of its store. */
	long identity();

	/**
	 * Why it may lack what it has acknowledged: a backup of that would be none; null
	 * where it has everything.
	 */
	@Nullable String doubt();

	/** Whether the node knows of no difference to any peer. */
	boolean isConverged();

}
