package io.kvorum.observability;

import java.util.List;
import java.util.Set;

import io.kvorum.cluster.Member;
import io.kvorum.replication.antientropy.RepairProgress;
import io.kvorum.replication.rejoin.RejoinProgress;
import io.kvorum.storage.HintLog.Waiting;

/** What the parts of a node know of how far it has converged. Asked by any thread. */
interface ConvergenceSource {

	/** All other members; none where a node is alone. */
	List<Member> peers();

	/** The addresses of those that are there. */
	Set<String> there();

	/** The addresses of those that have a stream to this node. */
	Set<String> reachedBy();

	RejoinProgress rejoin();

	/** Whether nothing is known to differ from any peer. */
	boolean isEqual();

	/** Slices in need of a repair, counted once for each peer. */
	int slicesInNeed();

	/** Partitions with entries that do not belong here and are still here. */
	int misplaced();

	/** How repairs go, with each of the peers. */
	List<RepairProgress> repairs();

	/** As of {@link RepairProgress#oldestRepairMillis()}, at less cost. */
	long oldestRepairMillis(Member peer);

	/** What waits here for a peer. */
	Waiting hintsFor(Member peer);

	/** Has everything compared with every peer as soon as may be. */
	void requestRepairs();

}
