package io.kvorum.operation;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Replicas;

/**
 * How operations are replicated.
 *
 * @param nodes the nodes of the cluster
 * @param factor the replicas of a key, where a request does not say; at most as many as
 * there are nodes
 */
public record ReplicationPolicy(int nodes, int factor) {

	/** What a request gets that does not say: a majority of the replica set. */
	public Replicas defaults() {
		return Replicas.majorityOf(Math.min(this.factor, this.nodes));
	}

	/** The replicas that are to hold an entry. */
	public int copiesOf(Entry entry) {
		return Math.min(entry.copies().orDefault(this.factor), this.nodes);
	}

	/** What an operation with these replicas promises. */
	public Consistency consistencyOf(Replicas replicas) {
		return (replicas.from() == defaults().from() && replicas.isMajority()) ? Consistency.LINEARIZABLE
				: Consistency.EVENTUAL;
	}

	/** What an operation on a key promises. */
	public enum Consistency {

		/** Operations appear to happen one after the other, whatever the clocks do. */
		LINEARIZABLE,

		/** What its {@code ack/from} says, and no more. */
		EVENTUAL

	}

}
