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
 * The answer of the endpoint: how far a node has converged, at one moment. Names of
 * components are names in the JSON. A null is left out, as in every
 * {@link OperationResponseBody}.
 *
 * @param converged whether this node may vote, knows of no difference to any peer, keeps
 * no hints, and all peers are there
 * @param slicesInNeed slices in need of a repair, counted once for each peer
 * @param misplacedPartitions partitions with entries that belong to other nodes
 * @param peers by their address, in the order of the topology
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

	/** An instant in milliseconds since 1970, 0 where there was none. */
	private static @Nullable Instant instant(long millis) {
		return (millis != 0) ? Instant.ofEpochMilli(millis) : null;
	}

	private static @Nullable String text(String text) {
		return text.isEmpty() ? null : text;
	}

	/**
	 * Whether this node may vote.
	 *
	 * @param state the state of its membership
	 * @param doubt why it may not vote; null if it may
	 * @param partsToDo parts of the data to be rebuilt; 0 if there is nothing to do
	 * @param partsDone the rebuilt parts of those
	 */
	record Membership(String state, @Nullable String doubt, int partsToDo, int partsDone) {

		private static Membership of(QuarantineProgress progress) {
			return new Membership(progress.state(), text(progress.withheldBecause()), progress.partsToDo(),
					progress.partsDone());
		}

	}

	/**
	 * What separates this node from a peer.
	 *
	 * @param there whether calls go to it
	 */
	record Peer(boolean there, Hints hints, Repair repair) {
	}

	/**
	 * The hints that wait here for a peer.
	 *
	 * @param oldest no hint is older; null if there are none
	 */
	record Hints(long waiting, long bytes, @Nullable Instant oldest) {

		private static Hints of(Waiting waiting) {
			return new Hints(waiting.hints(), waiting.bytes(),
					(waiting.hints() > 0) ? Instant.ofEpochMilli(waiting.oldestMillis()) : null);
		}

	}

	/**
	 * The state of repairs with a peer.
	 *
	 * @param active whether a repair is under way
	 * @param slicesToDo the slices of the present repair, or of the last one
	 * @param slicesDone the slices of those that are equal now
	 * @param started when the present repair began, or the last one; null before the
	 * first
	 * @param finished when the last repair ended; null before that
	 * @param oldestRepair all slices were equal then, or have been since; null if one
	 * never was
	 * @param trouble why the last repair did not finish; null if it did
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
