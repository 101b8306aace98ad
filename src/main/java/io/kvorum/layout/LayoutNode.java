package io.kvorum.layout;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.LayoutDecision;
import io.kvorum.convergence.change.ChangeStatus;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A node that follows the decisions about the nodes of its cluster. */
public interface LayoutNode {

	/** What a node answers that belongs to no cluster yet and has an empty store. */
	String WAITING = "waiting";

	/** What a node answers that belongs to no cluster yet, and has entries. */
	String NOT_EMPTY = "not empty";

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

	/** Tells this node and the others of a decision. Does not wait for them. */
	void decided(LayoutDecision decision);

	/**
	 * Asks any node for its layout.
	 * @return the text of the layout, {@link #WAITING} or {@link #NOT_EMPTY}; an error if
	 * the node does not answer
	 */
	Mono<String> ask(String address);

}
