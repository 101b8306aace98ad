package io.kvorum.convergence;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.ConvergenceStatus.Peer;
import io.kvorum.convergence.antientropy.RepairProgress;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a node has joined its peers since its process began, so that the next
 * node may be restarted. It has joined once it may vote, and each peer is there, reaches
 * it, was found equal if the two compare themselves, and has no hints waiting here. It
 * stays joined: what happens to peers later says nothing about this node.
 * <p>
 * A lost node must not keep the others from serving. So this node does not wait for a
 * peer that has been away for longer than {@link #PATIENCE}. Once it has run for that
 * long, it also does not wait for a peer
 * <ul>
 * <li>with which a repair was tried and none is under way, or
 * <li>with which a repair is under way, if no peer is there that ran before this node
 * started: all have started together, and none serves while they wait for each other.
 * </ul>
 * From then on a peer need not reach this node if a majority of the nodes does, this one
 * included: a peer that reaches no node is at fault itself. Until there is such a
 * majority, this node waits for each peer that is there and does not reach it.
 */
public final class Joining {

	/**
	 * The time after which this node stops waiting. A node that restarts with a new
	 * address is found again within it.
	 */
	static final Duration PATIENCE = Duration.ofMinutes(1);

	private final TimeSource time;

	private final long startedMillis;

	private final long startedNanos;

	/** The last instants at which peers were there. */
	private final Map<Member, Long> thereNanos = new ConcurrentHashMap<>();

	private volatile boolean hasMetAll;

	/** Begins to wait. Called at the start of the process. */
	public Joining(TimeSource time) {
		this.time = time;
		this.startedMillis = time.millis();
		this.startedNanos = time.nanos();
	}

	/**
	 * Tells what this node waits for, by the address of a peer or "membership".
	 * @return empty once it has joined, unless it is in quarantine
	 */
	public Map<String, String> waitsFor(ConvergenceStatus status) {
		Map<String, String> waits = this.hasMetAll ? new LinkedHashMap<>() : notMet(status);
		if (waits.isEmpty() && status.mayVote()) {
			this.hasMetAll = true;
		}
		if (!status.mayVote()) {
			waits.put("membership", status.quarantine().withheldBecause());
		}
		return waits;
	}

	private Map<String, String> notMet(ConvergenceStatus status) {
		Map<String, String> waits = new LinkedHashMap<>();
		int nodes = status.peers().size() + 1;
		long reaching = status.peers().stream().filter(Peer::reaches).count();
		boolean bySoMany = isLongAgo(this.startedNanos) && reaching + 1 > nodes / 2;
		boolean othersServe = status.peers().stream().anyMatch(peer -> peer.there() && peer.wasBefore());
		for (Peer peer : status.peers()) {
			String lack = lackOf(peer, bySoMany || peer.reaches(), othersServe);
			if (lack != null) {
				waits.put(peer.member().address(), lack);
			}
		}
		return waits;
	}

	private @Nullable String lackOf(Peer peer, boolean reaches, boolean othersServe) {
		if (!peer.there()) {
			long lastNanos = this.thereNanos.getOrDefault(peer.member(), this.startedNanos);
			return isLongAgo(lastNanos) ? null : "it is away";
		}
		this.thereNanos.put(peer.member(), this.time.nanos());
		if (!reaches) {
			return "it does not reach this node";
		}
		RepairProgress repair = peer.repair();
		boolean wasTried = repair.finishedMillis() != 0 && !repair.active();
		if (peer.compares() && isLongAgo(this.startedNanos) && (wasTried || !othersServe)) {
			return null;
		}
		if (peer.compares() && repair.oldestRepairMillis() < this.startedMillis) {
			return "not found equal since the start";
		}
		return peer.lacksNothing() ? null : "hints wait for it";
	}

	private boolean isLongAgo(long nanos) {
		return this.time.nanos() - nanos > PATIENCE.toNanos();
	}

}
