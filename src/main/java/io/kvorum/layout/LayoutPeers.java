package io.kvorum.layout;

import io.kvorum.cluster.LayoutDecision;
import reactor.core.publisher.Mono;

/** The nodes of a cluster and those that may become some, as one node reaches them. */
public interface LayoutPeers {

	/** What a node answers that belongs to no cluster yet and has an empty store. */
	String WAITING = "waiting";

	/**
	 * The beginning of what such a node answers if it asks to be added. Its address, with
	 * zone and weight, follows.
	 */
	String ASKING = WAITING + " ";

	/** What a node answers that belongs to no cluster yet, and has entries. */
	String NOT_EMPTY = "not empty";

	/** Tells this node and the others of a decision. Does not wait for them. */
	void decided(LayoutDecision decision);

	/**
	 * Asks any node for its layout.
	 * @return the text of the layout, {@link #WAITING}, {@link #ASKING} with a node, or
	 * {@link #NOT_EMPTY}; an error if the node does not answer
	 */
	Mono<String> ask(String address);

}
