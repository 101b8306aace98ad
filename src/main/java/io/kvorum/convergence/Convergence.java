package io.kvorum.convergence;

import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import io.kvorum.cluster.Member;
import io.kvorum.convergence.ConvergenceStatus.Peer;
import io.kvorum.convergence.antientropy.AntiEntropy;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.antientropy.RepairProgress;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.change.Changeover;
import io.kvorum.convergence.hints.HintedHandoff;
import io.kvorum.convergence.quarantine.Quarantine;
import org.jspecify.annotations.Nullable;

/** The convergence of a node with its peers, as operators see it. Thread-safe. */
public final class Convergence {

	private final List<Member> peers;

	private final Supplier<ConvergenceStatus> status;

	private final Supplier<@Nullable ChangeStatus> change;

	private final Runnable repair;

	/**
	 * Creates the convergence of a node.
	 * @param peers all other members; empty for a node without peers
	 * @param status the status at the moment of the call
	 * @param change the progress of a change of the topology; null without one
	 * @param repair requests a repair with every peer
	 */
	public Convergence(List<Member> peers, Supplier<ConvergenceStatus> status, Supplier<@Nullable ChangeStatus> change,
			Runnable repair) {
		this.peers = List.copyOf(peers);
		this.status = status;
		this.change = change;
		this.repair = repair;
	}

	/** The convergence of a node without peers, which has always converged. */
	public static Convergence alone() {
		return new Convergence(List.of(), () -> ConvergenceStatus.ALONE, () -> null, () -> {
		});
	}

	/**
	 * The convergence of a node with peers.
	 * @param there the addresses of the peers to which this node has an open stream
	 * @param reachedBy the addresses of the peers that have open streams to this node
	 */
	public static Convergence of(Quarantine quarantine, AntiEntropy antiEntropy, RepairLog log, HintedHandoff handoff,
			Changeover changeover, Supplier<Set<String>> there, Supplier<Set<String>> reachedBy) {
		return new Convergence(log.others(),
				() -> new ConvergenceStatus(quarantine.progress(), antiEntropy.isConverged(), log.needs(),
						antiEntropy.misplaced(),
						peers(antiEntropy.progress(), quarantine, handoff, there.get(), reachedBy.get())),
				changeover::status, antiEntropy::request);
	}

	private static List<Peer> peers(List<RepairProgress> repairs, Quarantine quarantine, HintedHandoff handoff,
			Set<String> there, Set<String> reachedBy) {
		return repairs.stream().map(repair -> {
			Member peer = repair.member();
			return new Peer(peer, there.contains(peer.address()),
					reachedBy.contains(peer.address()) || quarantine.isUnknownTo(peer),
					!quarantine.hasOtherTopology(peer), handoff.waiting(peer), repair);
		}).toList();
	}

	/** All other members, in the order of the topology. */
	public List<Member> peers() {
		return this.peers;
	}

	/** The status now. The store must be open. */
	public ConvergenceStatus status() {
		return this.status.get();
	}

	/** The progress of a change of the topology; null if it does not change. */
	public @Nullable ChangeStatus change() {
		return this.change.get();
	}

	/**
	 * Requests a comparison of everything with every peer, as soon as possible. Does not
	 * wait for it.
	 */
	public void requestRepairs() {
		this.repair.run();
	}

}
