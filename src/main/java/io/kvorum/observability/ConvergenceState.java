package io.kvorum.observability;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import io.kvorum.convergence.ConvergenceStatus;
import io.kvorum.convergence.antientropy.RepairProgress;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.storage.HintLog.Waiting;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * State of the convergence of a node, as the endpoint returns it. The names of the
 * components are the names in the response. As in any {@link OperationResponseBody},
 * nulls are left out.
 *
 * @param converged whether this node may vote and has all peers, with no slice to repair
 * or under repair, no misplaced entry and no waiting hint
 * @param slicesInNeed slices in need of a repair, counted once for each peer
 * @param misplacedPartitions partitions with misplaced entries
 * @param peers state of each peer by its address, in the order of the topology
 */
record ConvergenceState(boolean converged, Membership membership, int slicesInNeed, int misplacedPartitions,
		Map<String, Peer> peers) implements OperationResponseBody {

	static ConvergenceState of(ConvergenceStatus status) {
		Map<String, Peer> peers = new LinkedHashMap<>();
		for (ConvergenceStatus.Peer peer : status.peers()) {
			peers.put(peer.member().address(),
					new Peer(peer.there(), Hints.of(peer.hints()), Repair.of(peer.repair())));
		}
		return new ConvergenceState(status.converged(), Membership.of(status.quarantine()), status.slicesInNeed(),
				status.misplacedPartitions(), Collections.unmodifiableMap(peers));
	}

	/** The instant of these milliseconds since 1970; null for 0. */
	private static @Nullable Instant instant(long millis) {
		return (millis != 0) ? Instant.ofEpochMilli(millis) : null;
	}

	private static @Nullable String text(String text) {
		return text.isEmpty() ? null : text;
	}

	/**
	 * State of the quarantine of this node.
	 *
	 * @param state name of the state
	 * @param doubt reason for the quarantine; null without one
	 * @param partsToDo parts of the data to rebuild; 0 if there are none
	 * @param partsDone parts that have been rebuilt
	 */
	record Membership(String state, @Nullable String doubt, int partsToDo, int partsDone) {

		private static Membership of(QuarantineProgress progress) {
			return new Membership(progress.state(), text(progress.withheldBecause()), progress.partsToDo(),
					progress.partsDone());
		}

	}

	/**
	 * State of the convergence with a peer.
	 *
	 * @param there whether calls can be sent to the peer
	 */
	record Peer(boolean there, Hints hints, Repair repair) {
	}

	/**
	 * Hints that wait for a peer.
	 *
	 * @param oldest lower bound of the time of the oldest hint; null if there are none
	 */
	record Hints(long waiting, long bytes, @Nullable Instant oldest) {

		private static Hints of(Waiting waiting) {
			return new Hints(waiting.hints(), waiting.bytes(),
					(waiting.hints() > 0) ? Instant.ofEpochMilli(waiting.oldestMillis()) : null);
		}

	}

	/**
	 * State of the repairs with a peer.
	 *
	 * @param active whether a repair is under way
	 * @param slicesToDo number of slices of the current or last repair
	 * @param slicesDone number of these slices that are equal now
	 * @param started begin of the current or last repair; null before the first
	 * @param finished end of the last repair; null before that
	 * @param oldestRepair time of the oldest among the last repairs of all slices; null
	 * if a slice was never repaired
	 * @param trouble reason why the last repair failed, or left entries that cannot be
	 * read; null without such a reason, or if the peer was only away, starting, stopping
	 * or in quarantine
	 */
	record Repair(boolean active, int slicesToDo, int slicesDone, @Nullable Instant started, @Nullable Instant finished,
			@Nullable Instant oldestRepair, @Nullable String trouble) {

		private static Repair of(RepairProgress progress) {
			return new Repair(progress.active(), progress.slicesToDo(), progress.slicesDone(),
					instant(progress.startedMillis()), instant(progress.finishedMillis()),
					instant(progress.oldestRepairMillis()), text(progress.trouble()));
		}

	}

}
