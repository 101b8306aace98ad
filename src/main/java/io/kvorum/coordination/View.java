package io.kvorum.coordination;

import java.util.List;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Placement;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.OperationFailures;
import io.kvorum.replication.Replica;
import io.kvorum.replication.ReplicaSet;
import org.jspecify.annotations.Nullable;

/**
 * The nodes as the operations of a coordinator see them: which of them hold a key, and
 * how many an operation needs. An operation has one view for the whole of its life.
 * Immutable.
 */
public final class View {

	private final Placement placement;

	private final Member self;

	/** The replicas by the index of their member. */
	private final Replica[] replicas;

	private final ReplicationPolicy policy;

	/** The numbers of a request that names none. */
	private final Replicas defaults;

	private final Replicas relaxedDefaults;

	/** The replicas of each key where there is no other node; null where there is. */
	private final @Nullable ReplicaSet alone;

	/** Why no operation is possible; null if operations are. */
	private final @Nullable String refusal;

	/**
	 * The view of a node.
	 * @param self the node itself
	 * @param replicas the replicas of all members, by the index of the member
	 */
	public View(Placement placement, Member self, List<? extends Replica> replicas, ReplicationPolicy policy) {
		this(placement, self, replicas, policy, null);
	}

	private View(Placement placement, Member self, List<? extends Replica> replicas, ReplicationPolicy policy,
			@Nullable String refusal) {
		this.refusal = refusal;
		this.placement = placement;
		this.self = self;
		this.replicas = replicas.toArray(Replica[]::new);
		this.policy = policy;
		this.defaults = policy.defaults();
		this.relaxedDefaults = this.defaults.relax();
		this.alone = (isAlone() && refusal == null) ? ReplicaSet.of(List.of(self), 1, this.replicas) : null;
	}

	/**
	 * The view of a node that belongs to no cluster, and refuses all operations.
	 * @param policy which numbers a request may ask for. A refusal can be repeated at
	 * another node, unlike the answer to a wrong request.
	 */
	public static View none(Member self, Replica own, ReplicationPolicy policy, String why) {
		return new View((_, _, _) -> List.of(self), self, List.of(own), policy, why);
	}

	/**
	 * This view.
	 * @throws OperationFailedException if no operation is possible
	 */
	View serving() {
		OperationFailedException refused = refused();
		if (refused != null) {
			throw refused;
		}
		return this;
	}

	/** Why no operation is possible; null if operations are. */
	@Nullable OperationFailedException refused() {
		return (this.refusal != null)
				? OperationFailures.notBegun(1, this.self, Failed.notDone(Reason.UNAVAILABLE, this.refusal)) : null;
	}

	Member self() {
		return this.self;
	}

	/** The replica of the node itself. */
	Replica own() {
		return this.replicas[this.self.index()];
	}

	ReplicationPolicy policy() {
		return this.policy;
	}

	/** Whether there is no other node. */
	boolean isAlone() {
		return this.replicas.length == 1;
	}

	/**
	 * The numbers of a request in this view. They were read by an earlier one if the
	 * nodes have changed in between.
	 */
	Replicas of(Replicas asked) {
		if (asked.copies() == Copies.DEFAULT) {
			return asked.relaxed() ? this.relaxedDefaults : this.defaults;
		}
		int from = Math.min(asked.from(), this.policy.nodes());
		return (from == asked.from()) ? asked
				: new Replicas(Math.min(asked.ack(), from), from, asked.copies(), asked.relaxed());
	}

	/** The replicas of a key that an operation asks, and those that it needs. */
	ReplicaSet replicasOf(Key key, Replicas asked) {
		if (this.alone != null) {
			return this.alone;
		}
		if (this.policy.parts().isEmpty()) {
			return ReplicaSet.of(this.placement.replicasOf(key, asked.from()), asked.ack(), this.replicas);
		}
		Replicas before = this.policy.of(0, asked);
		Replicas after = this.policy.of(1, asked);
		return ReplicaSet.ofBoth(this.placement.replicasOf(key, 0, before.from()), before.ack(),
				this.placement.replicasOf(key, 1, after.from()), after.ack(), this.replicas);
	}

}
