package io.kvorum.observability;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;

/** Peers that have recently refused this node's versions because of a clock. */
final class ClockRefusals {

	private final TimeSource time;

	/** Time of the last refusal by each peer, in nanoseconds of the time source. */
	private final Map<Member, Long> latest = new ConcurrentHashMap<>();

	ClockRefusals(TimeSource time) {
		this.time = time;
	}

	void refusedBy(Member peer) {
		this.latest.put(peer, this.time.nanos());
	}

	/**
	 * The addresses of the peers with a refusal within
	 * {@link HybridLogicalClock#REFUSALS_KEPT}.
	 */
	Set<String> peers() {
		long now = this.time.nanos();
		Set<String> addresses = new TreeSet<>();
		this.latest.forEach((peer, nanos) -> {
			if (now - nanos <= HybridLogicalClock.REFUSALS_KEPT.toNanos()) {
				addresses.add(peer.address());
			}
		});
		return addresses;
	}

}
