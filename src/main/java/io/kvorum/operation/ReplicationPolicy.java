package io.kvorum.operation;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Replicas;

/**
 * The replication of operations in this cluster.
 *
 * @param nodes the number of nodes of the cluster
 * @param factor the default number of replicas of a key
 */
public record ReplicationPolicy(int nodes, int factor) {

	/** The replicas of a request that names none: a majority of the replica set. */
	public Replicas defaults() {
		return Replicas.majorityOf(Math.min(this.factor, this.nodes));
	}

	/** The number of replicas that are to hold an entry. */
	public int copiesOf(Entry entry) {
		return Math.min(entry.copies().orDefault(this.factor), this.nodes);
	}

	/**
	 * The consistency of an operation: linearizable if a majority of the default number
	 * of replicas is asked for, else eventual.
	 */
	public Consistency consistencyOf(Replicas replicas) {
		return (replicas.from() == defaults().from() && replicas.isMajority()) ? Consistency.LINEARIZABLE
				: Consistency.EVENTUAL;
	}

	/** The consistency of an operation on a key. */
	public enum Consistency {

		/**
		 * Operations on a key appear to happen one at a time, each between its request
		 * and its answer, whatever the clocks do.
		 */
		LINEARIZABLE,

		/** The operation promises what its {@code ack/from} says, and no more. */
		EVENTUAL

	}

}
