package io.kvorum.observability;

import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.kvorum.cluster.Member;
import io.kvorum.replication.antientropy.AntiEntropy;
import io.kvorum.replication.antientropy.RepairLog;
import io.kvorum.replication.antientropy.RepairProgress;
import io.kvorum.replication.handoff.Handoff;
import io.kvorum.replication.rejoin.Rejoin;
import io.kvorum.replication.rejoin.RejoinProgress;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.transport.PeerStatus;

/** Of a node that has peers. */
final class ClusterConvergence implements ConvergenceSource {

	private final List<Member> peers;

	private final Supplier<List<PeerStatus>> statuses;

	private final Supplier<Set<String>> reachedBy;

	private final Rejoin rejoin;

	private final AntiEntropy antiEntropy;

	private final RepairLog log;

	private final Handoff handoff;

	ClusterConvergence(List<Member> peers, Supplier<List<PeerStatus>> statuses, Supplier<Set<String>> reachedBy,
			Rejoin rejoin, AntiEntropy antiEntropy, RepairLog log, Handoff handoff) {
		this.peers = List.copyOf(peers);
		this.statuses = statuses;
		this.reachedBy = reachedBy;
		this.rejoin = rejoin;
		this.antiEntropy = antiEntropy;
		this.log = log;
		this.handoff = handoff;
	}

	@Override
	public List<Member> peers() {
		return this.peers;
	}

	@Override
	public Set<String> there() {
		return this.statuses.get()
			.stream()
			.filter(peer -> peer.streams() > 0)
			.map(PeerStatus::address)
			.collect(Collectors.toSet());
	}

	@Override
	public Set<String> reachedBy() {
		return this.reachedBy.get();
	}

	@Override
	public RejoinProgress rejoin() {
		return this.rejoin.progress();
	}

	@Override
	public boolean isEqual() {
		return this.antiEntropy.isConverged();
	}

	@Override
	public int slicesInNeed() {
		return this.log.needs();
	}

	@Override
	public int misplaced() {
		return this.antiEntropy.misplaced();
	}

	@Override
	public List<RepairProgress> repairs() {
		return this.antiEntropy.progress();
	}

	@Override
	public long oldestRepairMillis(Member peer) {
		return this.log.oldestRepair(peer);
	}

	@Override
	public Waiting hintsFor(Member peer) {
		return this.handoff.waiting(peer);
	}

	@Override
	public void requestRepairs() {
		this.antiEntropy.request();
	}

}
