package io.kvorum.observability;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.kvorum.clock.TimeSource;
import io.kvorum.observability.ConvergenceState.Peer;
import io.kvorum.observability.ConvergenceState.Repair;
import org.jspecify.annotations.Nullable;

/**
 * Whether a node has joined the others since its process began, so that the next one may
 * be restarted: it is believed, and has once seen of each peer that it is there, reaches
 * this node, and lacks nothing that this node has, nor the other way round. Once seen is
 * enough: what happens to peers later is no news of this node.
 * <p>
 * A peer is not waited for that is away for {@link #PATIENCE}, nor after that time a
 * repair with it that was tried and is not under way: one that is lost must not keep the
 * others from serving. Nor is it then waited to be reached by one that is there, where a
 * majority of the nodes does, this one among them: whoever reaches nobody is wrong
 * itself. With less, however long: to the others this node is away.
 */
final class Joining {

	/** Of one that is restarted at the same time, and found again by its new address. */
	static final Duration PATIENCE = Duration.ofMinutes(1);

	private final TimeSource time;

	private final long startedMillis;

	private final long startedNanos;

	/** When a peer was there last, by its address. */
	private final Map<String, Long> thereNanos = new ConcurrentHashMap<>();

	private volatile boolean hasMetAll;

	Joining(TimeSource time) {
		this.time = time;
		this.startedMillis = time.millis();
		this.startedNanos = time.nanos();
	}

	/**
	 * What this node waits for, for people; by the address of a peer, or "membership".
	 * @param reachedBy the addresses of those that have a stream to this node
	 * @return empty once it has joined, but while it is in doubt
	 */
	Map<String, String> waitsFor(ConvergenceState state, Set<String> reachedBy) {
		Map<String, String> waits = this.hasMetAll ? new LinkedHashMap<>() : notMet(state, reachedBy);
		if (waits.isEmpty() && state.membership().isBelieved()) {
			this.hasMetAll = true;
		}
		String doubt = state.membership().doubt();
		if (doubt != null) {
			waits.put("membership", doubt);
		}
		return waits;
	}

	private Map<String, String> notMet(ConvergenceState state, Set<String> reachedBy) {
		Map<String, String> waits = new LinkedHashMap<>();
		int nodes = state.peers().size() + 1;
		boolean bySoMany = isLongAgo(this.startedNanos) && reachedBy.size() + 1 > nodes / 2;
		state.peers().forEach((address, peer) -> {
			String lack = lackOf(address, peer, bySoMany || reachedBy.contains(address));
			if (lack != null) {
				waits.put(address, lack);
			}
		});
		return waits;
	}

	private @Nullable String lackOf(String address, Peer peer, boolean reaches) {
		if (!peer.there()) {
			long lastNanos = this.thereNanos.getOrDefault(address, this.startedNanos);
			return isLongAgo(lastNanos) ? null : "it is away";
		}
		this.thereNanos.put(address, this.time.nanos());
		if (!reaches) {
			return "it does not reach this node";
		}
		Repair repair = peer.repair();
		if (isLongAgo(this.startedNanos) && repair.finished() != null && !repair.active()) {
			return null;
		}
		if (!isEqual(repair)) {
			return "not found equal since the start";
		}
		return peer.lacksNothing() ? null : "hints wait for it";
	}

	private boolean isLongAgo(long nanos) {
		return this.time.nanos() - nanos > PATIENCE.toNanos();
	}

	private boolean isEqual(Repair repair) {
		return repair.oldestRepair() != null && repair.oldestRepair().toEpochMilli() >= this.startedMillis;
	}

}
