package io.kvorum.backup;

import org.jspecify.annotations.Nullable;

/** The facts that a backup needs of its node. Called by the backing-up thread. */
public interface BackedUpNode {

	Origin origin();

	/** The identity of its store. */
	long identity();

	/**
	 * The reason why the node may lack what it has acknowledged, so that it is not backed
	 * up; null if it has everything.
	 */
	@Nullable String doubt();

	/** Whether the node knows of no entry that it, or a peer, lacks. */
	boolean isConverged();

}
