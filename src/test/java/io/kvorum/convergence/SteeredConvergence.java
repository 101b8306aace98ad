package io.kvorum.convergence;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.ConvergenceStatus.Peer;
import io.kvorum.convergence.antientropy.RepairProgress;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;

/**
 * The convergence of a node of three, as a test sets it. Until it sets something, the
 * node has converged.
 */
public final class SteeredConvergence {

	public static final Topology TOPOLOGY = Topology.of(List.of("http://a:7000", "http://b:7000", "http://c:7000"), 3);

	public static final Member SELF = TOPOLOGY.member("http://a:7000");

	public static final Member B = TOPOLOGY.member("http://b:7000");

	public static final Member C = TOPOLOGY.member("http://c:7000");

	public Set<String> there = Set.of(B.address(), C.address());

	public Set<String> reachedBy = this.there;

	/** The peers that were running before this node. */
	public Set<Member> before = Set.of(B, C);

	public QuarantineProgress quarantine = new QuarantineProgress("member", "", 0, 0);

	public boolean equal = true;

	public int slicesInNeed;

	public int misplaced;

	public Set<Member> withOtherTopology = Set.of();

	public final Map<Member, RepairProgress> repairs = new HashMap<>();

	public final Map<Member, Waiting> hints = new HashMap<>();

	public @Nullable ChangeStatus change;

	public int requests;

	public SteeredConvergence() {
		for (Member peer : List.of(B, C)) {
			this.repairs.put(peer, repair(peer, false, 4096, 4096, SteeredTime.START_MILLIS - 60_000, ""));
		}
	}

	public static RepairProgress repair(Member peer, boolean active, int toDo, int done, long oldestMillis,
			String trouble) {
		return new RepairProgress(peer, active, toDo, done, SteeredTime.START_MILLIS - 60_000,
				SteeredTime.START_MILLIS - 50_000, oldestMillis, trouble);
	}

	/** The convergence, which follows what is set here. */
	public Convergence convergence() {
		return new Convergence(() -> List.of(B, C), this::status, () -> this.change, () -> this.requests++);
	}

	public ConvergenceStatus status() {
		return new ConvergenceStatus(this.quarantine, this.equal, this.slicesInNeed, this.misplaced,
				List.of(of(B), of(C)));
	}

	private Peer of(Member peer) {
		RepairProgress repair = this.repairs.get(peer);
		if (repair == null) {
			throw new IllegalArgumentException(peer + " is no peer");
		}
		return new Peer(peer, this.there.contains(peer.address()), this.reachedBy.contains(peer.address()),
				!this.withOtherTopology.contains(peer), this.before.contains(peer),
				this.hints.getOrDefault(peer, Waiting.NONE), repair);
	}

}
