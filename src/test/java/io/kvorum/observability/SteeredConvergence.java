package io.kvorum.observability;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.replication.antientropy.RepairProgress;
import io.kvorum.replication.rejoin.RejoinProgress;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.testing.SteeredTime;

/**
 * What a node of three would know, as a test says. Until it says otherwise, the node has
 * converged.
 */
final class SteeredConvergence implements ConvergenceSource {

	static final Topology TOPOLOGY = Topology.of(List.of("http://a:7000", "http://b:7000", "http://c:7000"), 3);

	static final Member SELF = TOPOLOGY.member("http://a:7000");

	static final Member B = TOPOLOGY.member("http://b:7000");

	static final Member C = TOPOLOGY.member("http://c:7000");

	Set<String> there = Set.of(B.address(), C.address());

	Set<String> reachedBy = this.there;

	RejoinProgress rejoin = new RejoinProgress("member", "", 0, 0);

	boolean equal = true;

	int slicesInNeed;

	int misplaced;

	final Map<Member, RepairProgress> repairs = new HashMap<>();

	final Map<Member, Waiting> hints = new HashMap<>();

	int requests;

	SteeredConvergence() {
		for (Member peer : peers()) {
			this.repairs.put(peer, repair(peer, false, 4096, 4096, SteeredTime.START_MILLIS - 60_000, ""));
		}
	}

	static RepairProgress repair(Member peer, boolean active, int toDo, int done, long oldestMillis, String trouble) {
		return new RepairProgress(peer, active, toDo, done, SteeredTime.START_MILLIS - 60_000,
				SteeredTime.START_MILLIS - 50_000, oldestMillis, trouble);
	}

	@Override
	public List<Member> peers() {
		return List.of(B, C);
	}

	@Override
	public Set<String> there() {
		return this.there;
	}

	@Override
	public Set<String> reachedBy() {
		return this.reachedBy;
	}

	@Override
	public RejoinProgress rejoin() {
		return this.rejoin;
	}

	@Override
	public boolean isEqual() {
		return this.equal;
	}

	@Override
	public int slicesInNeed() {
		return this.slicesInNeed;
	}

	@Override
	public int misplaced() {
		return this.misplaced;
	}

	@Override
	public List<RepairProgress> repairs() {
		return List.of(repairOf(B), repairOf(C));
	}

	private RepairProgress repairOf(Member peer) {
		RepairProgress repair = this.repairs.get(peer);
		if (repair == null) {
			throw new IllegalArgumentException(peer + " is no peer");
		}
		return repair;
	}

	@Override
	public long oldestRepairMillis(Member peer) {
		return repairOf(peer).oldestRepairMillis();
	}

	@Override
	public Waiting hintsFor(Member peer) {
		return this.hints.getOrDefault(peer, Waiting.NONE);
	}

	@Override
	public void requestRepairs() {
		this.requests++;
	}

}
