package io.kvorum.layout;

import io.kvorum.cluster.Layout;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.change.CopyProgress;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A node that follows the decisions about the nodes of its cluster. */
public interface LayoutNode {

	/** The layout that this node works with; null if it belongs to no cluster yet. */
	@Nullable Layout layout();

	/**
	 * Whether no operation of an earlier layout is under way on this node, and the others
	 * know of its layout.
	 */
	boolean isSettled();

	/** Why this node is no member of a cluster, in words; null if it is one. */
	@Nullable String outside();

	/** The progress of a change, as this node knows it; null without one. */
	@Nullable ChangeStatus change();

	/** What a change copies, as this node knows it; null without one, or if not known. */
	@Nullable CopyProgress copying();

	/**
	 * Tells whether the nodes change, in the word of the API.
	 * @param node null for a node that has no replica address
	 */
	static String stateOf(Layout layout, @Nullable LayoutNode node) {
		return (layout.isMoving() || (node != null && !node.isSettled())) ? "moving" : "stable";
	}

	/** What this node holds, and how fast it can be copied. */
	Mono<Store> store();

	/**
	 * The store of a node.
	 *
	 * @param node its identity as a member
	 * @param liveBytes an estimate of the size of its entries before compression
	 * @param maxCopyRate the most bytes that it gets in a second from each other node
	 */
	record Store(long node, long liveBytes, long maxCopyRate) {
	}

}
