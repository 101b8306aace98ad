package io.kvorum.convergence;

import java.util.List;
import java.util.Set;

import io.kvorum.cluster.Member;
import io.kvorum.convergence.antientropy.AntiEntropy;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.antientropy.RepairProgress;
import io.kvorum.convergence.hints.HintedHandoff;
import io.kvorum.convergence.quarantine.Quarantine;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.storage.HintLog.Waiting;

/**
 * The convergence of a node with its peers, at one moment.
 *
 * @param quarantine whether the node may vote
 * @param equal whether no slice is in need of a repair, no repair is under way, and no
 * entry is misplaced
 * @param slicesInNeed slices in need of a repair, counted once for each peer
 * @param misplacedPartitions partitions with entries that belong to other nodes
 * @param peers all other members, in the order of the topology
 */
public record ConvergenceStatus(QuarantineProgress quarantine, boolean equal, int slicesInNeed, int misplacedPartitions,
		List<Peer> peers) {

	/** The status of a node without peers. */
	static final ConvergenceStatus ALONE = new ConvergenceStatus(new QuarantineProgress("alone", "", 0, 0), true, 0, 0,
			List.of());

	/** The status of a node that belongs to no cluster yet. */
	public static final ConvergenceStatus WAITING = new ConvergenceStatus(
			new QuarantineProgress("waiting", "this node is in no cluster yet", 0, 0), true, 0, 0, List.of());

	/**
	 * The status of a node with peers.
	 * @param there the addresses of the peers to which this node has an open stream
	 * @param reachedBy the addresses of the peers that have open streams to this node
	 */
	public static ConvergenceStatus of(Quarantine quarantine, AntiEntropy antiEntropy, RepairLog log,
			HintedHandoff handoff, Set<String> there, Set<String> reachedBy) {
		List<Peer> peers = antiEntropy.progress().stream().map(repair -> {
			Member peer = repair.member();
			return new Peer(peer, there.contains(peer.address()),
					reachedBy.contains(peer.address()) || quarantine.isUnknownTo(peer),
					!quarantine.hasOtherTopology(peer), quarantine.wasBefore(peer), handoff.waiting(peer), repair);
		}).toList();
		return new ConvergenceStatus(quarantine.progress(), antiEntropy.isConverged(), log.needs(),
				antiEntropy.misplaced(), peers);
	}

	/**
	 * Whether this node may vote, is {@link #equal()}, keeps no hints, and all peers are
	 * there. False after a start until all slices are compared. A difference that no
	 * comparison has met yet does not count.
	 */
	public boolean converged() {
		return mayVote() && this.equal && this.peers.stream().allMatch(Peer::lacksNothing);
	}

	/** Whether this node is not in quarantine. */
	public boolean mayVote() {
		return this.quarantine.withheldBecause().isEmpty();
	}

	/**
	 * The convergence of this node with one peer.
	 *
	 * @param there whether this node has an open stream to the peer
	 * @param reaches whether the peer has open streams to this node, or cannot know it:
	 * the topology changes, and the peer has the one before, without this node
	 * @param compares whether the two compare what they have, which is not so while only
	 * one of them is in a change of the topology
	 * @param wasBefore whether the peer was running before this node has started
	 * @param hints the hints that wait here for the peer
	 */
	public record Peer(Member member, boolean there, boolean reaches, boolean compares, boolean wasBefore,
			Waiting hints, RepairProgress repair) {

		boolean lacksNothing() {
			return this.there && this.hints.hints() == 0;
		}

	}

}
