package io.kvorum.operation;

import java.util.Collection;
import java.util.List;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Replicas;

/**
 * The replication of operations in this cluster.
 *
 * @param nodes the number of nodes of the cluster
 * @param factor the default number of replicas of a key
 * @param parts the policies before and after a change of the cluster; empty if it does
 * not change
 * @param acks the numbers of replicas that an operation may wait for, in their order, if
 * it has no choice of how many there are, as in another store than Kvorum's own; empty if
 * it has
 */
public record ReplicationPolicy(int nodes, int factor, List<ReplicationPolicy> parts, List<Integer> acks) {

	/** The policy of a cluster that does not change. */
	public ReplicationPolicy(int nodes, int factor) {
		this(nodes, factor, List.of());
	}

	/** The policy of a cluster whose operations may ask for any numbers. */
	public ReplicationPolicy(int nodes, int factor, List<ReplicationPolicy> parts) {
		this(nodes, factor, parts, List.of());
	}

	/**
	 * The policy of a store in which each key has the same number of replicas.
	 * @param acks the numbers of replicas that an operation may wait for
	 */
	public static ReplicationPolicy fixed(int factor, Collection<Integer> acks) {
		return new ReplicationPolicy(factor, factor, List.of(), acks.stream().sorted().toList());
	}

	/**
	 * Whether an eventual and a linearizable write of a key are ordered in different
	 * ways, so that the one may hide the other whichever was last.
	 */
	public boolean ordersByLevel() {
		return !this.acks.isEmpty();
	}

	/** Whether operations may ask for these numbers. */
	public boolean allows(int ack, int from) {
		return this.acks.isEmpty() ? ack >= 1 && ack <= from && from <= Math.min(this.nodes, Entry.MAX_COPIES)
				: from == this.factor && this.acks.contains(ack);
	}

	/**
	 * The numbers of an operation before or after a change of the cluster. An operation
	 * of the default number of replicas has the default of that cluster too.
	 * @param part 0 before the change, 1 after it
	 */
	public Replicas of(int part, Replicas asked) {
		ReplicationPolicy policy = this.parts.get(part);
		Replicas defaults = defaults();
		if (asked.from() != defaults.from()) {
			int from = Math.min(asked.from(), policy.nodes);
			return new Replicas(Math.min(asked.ack(), from), from, asked.copies(), asked.relaxed());
		}
		int from = policy.defaults().from();
		int ack = (asked.ack() == defaults.ack()) ? policy.defaults().ack() : Math.min(asked.ack(), from);
		return new Replicas(ack, from, asked.copies(), asked.relaxed());
	}

	/** The replicas of a request that names none: a majority of the replica set. */
	public Replicas defaults() {
		return Replicas.majorityOf(Math.min(this.factor, this.nodes));
	}

	/**
	 * The numbers of a request now. If it names none they are the default, which was
	 * another one if the factor has changed since it was parsed.
	 */
	public Replicas present(Replicas asked) {
		if (asked.copies() != Copies.DEFAULT) {
			return asked;
		}
		return asked.relaxed() ? defaults().relax() : defaults();
	}

	/** The number of replicas that are to hold an entry. */
	public int copiesOf(Entry entry) {
		return Math.min(entry.copies().orDefault(this.factor), this.nodes);
	}

	/**
	 * The consistency of an operation: linearizable if a majority of the default number
	 * of replicas is asked for, unless the request says that eventual suffices.
	 */
	public Consistency consistencyOf(Replicas replicas) {
		boolean isOfAll = replicas.copies() == Copies.DEFAULT || replicas.from() == defaults().from();
		return (!replicas.relaxed() && isOfAll && replicas.isMajority()) ? Consistency.LINEARIZABLE
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
