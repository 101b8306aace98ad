package io.kvorum.observability;

import java.util.List;
import java.util.Set;

import io.kvorum.cluster.Member;
import io.kvorum.replication.antientropy.RepairLog;
import io.kvorum.replication.antientropy.RepairProgress;
import io.kvorum.replication.rejoin.RejoinProgress;
import io.kvorum.storage.HintLog.Waiting;

/** Of a node without peers: there is nothing that it could differ from. */
final class AloneConvergence implements ConvergenceSource {

	@Override
	public List<Member> peers() {
		return List.of();
	}

	@Override
	public Set<String> there() {
		return Set.of();
	}

	@Override
	public Set<String> reachedBy() {
		return Set.of();
	}

	@Override
	public RejoinProgress rejoin() {
		return new RejoinProgress("alone", "", 0, 0);
	}

	@Override
	public boolean isEqual() {
		return true;
	}

	@Override
	public int slicesInNeed() {
		return 0;
	}

	@Override
	public int misplaced() {
		return 0;
	}

	@Override
	public List<RepairProgress> repairs() {
		return List.of();
	}

	@Override
	public long oldestRepairMillis(Member peer) {
		return RepairLog.NEVER;
	}

	@Override
	public Waiting hintsFor(Member peer) {
		return Waiting.NONE;
	}

	@Override
	public void requestRepairs() {
	}

}
