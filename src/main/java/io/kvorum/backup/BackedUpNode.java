package io.kvorum.backup;

import org.jspecify.annotations.Nullable;

/** What a backup has to know of its node. Asked by the thread that makes it. */
public interface BackedUpNode {

	Origin origin();

	/** The identity of its store. */
	long identity();

	/**
	 * Why it may lack what it has acknowledged: a backup of that would be none; null
	 * where it has everything.
	 */
	@Nullable String doubt();

	/** Whether it knows of nothing that it lacks or others do. */
	boolean isConverged();

}
