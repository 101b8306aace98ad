package io.kvorum.backup;

import org.jspecify.annotations.Nullable;

/**
 * The facts that a backup needs of its node. Called by the thread that makes the backup.
 */
public interface BackedUpNode {

	Origin origin();

	/** The identity of its store. */
	long identity();

	/**
	 * The reason why the node may lack writes that it has acknowledged, and is not backed
	 * up; null if it has all.
	 */
	@Nullable String doubt();

	/** Whether the node has converged with its peers. */
	boolean isConverged();

}
