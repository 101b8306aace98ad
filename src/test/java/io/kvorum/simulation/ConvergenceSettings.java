package io.kvorum.simulation;

import java.time.Duration;

import io.kvorum.convergence.antientropy.RepairSettings;
import io.kvorum.convergence.hints.HintSettings;
import io.kvorum.convergence.quarantine.QuarantineSettings;
import io.kvorum.layout.LeavingTime;

/**
 * How replicas are made equal in a history: as a product would, in minutes rather than
 * days.
 *
 * @param window of hints
 * @param mostAway after a longer absence a node does not vote
 * @param grace of tombstones
 */
record ConvergenceSettings(Duration window, Duration mostAway, Duration grace) {

	static final Duration COLLECT_INTERVAL = Duration.ofSeconds(3);

	/** Of what has expired. */
	static final Duration EXPIRY_MARGIN = Duration.ofSeconds(20);

	static final Duration GRACE = Duration.ofSeconds(60);

	/** Longer than any history. */
	static final Duration REQUESTS_KEPT = Duration.ofHours(1);

	static final Duration MOST_AWAY = Duration.ofSeconds(45);

	/**
	 * The absence after which a change does not wait for a node. Only a dead node is away
	 * for so long: others start within 10 s, and cuts are healed within 2 s.
	 */
	static final Duration PATIENCE = Duration.ofSeconds(15);

	private static final long BYTES_PER_SECOND = 1 << 20;

	static ConvergenceSettings any(Chance chance) {
		return new ConvergenceSettings(Duration.ofSeconds(chance.between(20, 45)), MOST_AWAY, GRACE);
	}

	/** All of it in half of the time, for histories of which most is waiting. */
	ConvergenceSettings halved() {
		return new ConvergenceSettings(this.window.dividedBy(2), this.mostAway.dividedBy(2), this.grace.dividedBy(2));
	}

	/** As that of a product. */
	Duration patienceWithEarlier(SimulatedNode node) {
		Duration leaving = new LeavingTime(this.grace, node.time()).limit();
		Duration taking = node.longestWrite().plusSeconds(5);
		return (taking.compareTo(leaving) > 0) ? taking : leaving;
	}

	HintSettings handoff() {
		return new HintSettings(this.window, 1 << 20, Duration.ofSeconds(2), BYTES_PER_SECOND, Duration.ofSeconds(2));
	}

	static RepairSettings repair() {
		return new RepairSettings(Duration.ofSeconds(10), 2, BYTES_PER_SECOND, Duration.ofSeconds(1),
				Duration.ofSeconds(2), Duration.ofMillis(500));
	}

	static QuarantineSettings quarantine(boolean acceptLoss) {
		return new QuarantineSettings(Duration.ofSeconds(2), Duration.ofSeconds(1), Duration.ofSeconds(2),
				Duration.ZERO, acceptLoss);
	}

}
