package io.kvorum.convergence;

import java.util.List;
import java.util.function.Supplier;

import io.kvorum.cluster.Member;
import io.kvorum.convergence.change.ChangeStatus;
import org.jspecify.annotations.Nullable;

/** The convergence of a node with its peers, as operators see it. Thread-safe. */
public final class Convergence {

	private final Supplier<List<Member>> peers;

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
	public Convergence(Supplier<List<Member>> peers, Supplier<ConvergenceStatus> status,
			Supplier<@Nullable ChangeStatus> change, Runnable repair) {
		this.peers = peers;
		this.status = status;
		this.change = change;
		this.repair = repair;
	}

	/** The convergence of a node without peers, which has always converged. */
	public static Convergence alone() {
		return new Convergence(List::of, () -> ConvergenceStatus.ALONE, () -> null, () -> {
		});
	}

	/** All other members, in the order of the topology. */
	public List<Member> peers() {
		return this.peers.get();
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
