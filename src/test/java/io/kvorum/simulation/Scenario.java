package io.kvorum.simulation;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.kv.Replicas;

/**
 * What a history is like: the cluster, its clients, and what goes wrong.
 *
 * @param nodes of the cluster
 * @param factor copies of a key
 * @param clients each sends one operation after the other
 * @param operations of each client
 * @param loss of messages, as a probability
 * @param repeats of messages, as a probability
 * @param stragglers messages that take 10 to 1,000 times as long, as a probability
 * @param skewMillis how far wall clocks are off, either way
 * @param jumps of wall clocks
 * @param partitions that come and heal
 * @param crashes of nodes that come up again
 * @param diskTrouble times in which a disk fails at some requests
 * @param diskHangs a disk may stop for longer than the storage engine waits for it
 * @param away so many nodes, the first ones, are down or cut off until all is put right
 * @param unlucky rounds of stores that reach few, or some of them late, as a probability
 * @param trips crashes of a node right after a promise, as a probability; after something
 * else a fifth of that
 */
record Scenario(int nodes, int factor, int keys, int clients, int operations, double loss, double repeats,
		double stragglers, long skewMillis, int jumps, int partitions, int crashes, int diskTrouble, boolean diskHangs,
		int away, double unlucky, double trips) {

	/** One in which no round is unlucky and no node trips. */
	Scenario(int nodes, int factor, int keys, int clients, int operations, double loss, double repeats,
			double stragglers, long skewMillis, int jumps, int partitions, int crashes, int diskTrouble,
			boolean diskHangs, int away) {
		this(nodes, factor, keys, clients, operations, loss, repeats, stragglers, skewMillis, jumps, partitions,
				crashes, diskTrouble, diskHangs, away, 0, 0);
	}

	/**
	 * In histories of minutes wall clocks are no further off, so that two of them are
	 * less than 10 s apart.
	 */
	static final long MOST_SKEW_MILLIS = 4_000;

	/** Of a clock that runs a thousandth too fast or slow, in a history of minutes. */
	private static final long MOST_DRIFT_MILLIS = 1_000;

	private static final int[][] CLUSTERS = { { 3, 3 }, { 3, 3 }, { 3, 3 }, { 3, 3 }, { 3, 3 }, { 4, 3 }, { 5, 3 },
			{ 5, 3 }, { 5, 5 }, { 2, 2 }, { 1, 1 } };

	private static final int[][] CONTENDED = { { 3, 3 }, { 3, 3 }, { 3, 3 }, { 4, 3 }, { 2, 2 } };

	/** Anything may happen. */
	static Scenario any(Chance chance) {
		int[] cluster = CLUSTERS[chance.below(CLUSTERS.length)];
		boolean calmNetwork = chance.of(0.2);
		boolean calmNodes = chance.of(0.4);
		return new Scenario(cluster[0], cluster[1], 1 + chance.below(2), 3 + chance.below(3), 8 + chance.below(8),
				calmNetwork ? 0 : chance.between(0, 0.1), calmNetwork ? 0 : chance.between(0, 0.05),
				calmNetwork ? 0 : chance.between(0, 0.1), chance.of(0.1) ? 5_000 : chance.of(0.3) ? 10 : 400,
				chance.below(3), calmNetwork ? 0 : chance.below(4), calmNodes ? 0 : 1 + chance.below(3),
				chance.of(0.35) ? 1 + chance.below(2) : 0, chance.of(0.02), 0);
	}

	/** Nothing goes wrong. */
	static Scenario calm(Chance chance) {
		int[] cluster = CLUSTERS[chance.below(CLUSTERS.length)];
		return new Scenario(cluster[0], cluster[1], 1 + chance.below(2), 3 + chance.below(3), 10, 0, 0, 0, 200, 0, 0, 0,
				0, false, 0);
	}

	/**
	 * As many nodes are away as may be, from the beginning on; nothing else goes wrong.
	 */
	static Scenario someAway(Chance chance) {
		Scenario calm = calm(chance);
		while (calm.factor < 3) {
			calm = calm(chance);
		}
		return new Scenario(calm.nodes, calm.factor, calm.keys, calm.clients, calm.operations, 0, 0, 0, calm.skewMillis,
				0, 0, 0, 0, false, (calm.factor - 1) / 2);
	}

	/**
	 * Many clients on one key of few nodes, which crash and are back at once, with stores
	 * that come late.
	 */
	static Scenario contended(Chance chance) {
		int[] cluster = CONTENDED[chance.below(CONTENDED.length)];
		return new Scenario(cluster[0], cluster[1], 1, 4 + chance.below(3), 7 + chance.below(4),
				oneOf(chance, 0, 0.02, 0.1), oneOf(chance, 0, 0.05), oneOf(chance, 0, 0.1, 0.3),
				chance.of(0.3) ? 400 : 10, 0, chance.below(3), (int) oneOf(chance, 0, 6, 12), 0, false, 0,
				oneOf(chance, 0, 0.1, 0.3), oneOf(chance, 0, 0.02, 0.06));
	}

	private static double oneOf(Chance chance, double... values) {
		return values[chance.below(values.length)];
	}

	/** Whether a node that crashes is back soon. */
	boolean restartsSoon() {
		return this.trips > 0 || this.unlucky > 0;
	}

	/**
	 * How far apart the clocks that a node judges an expiry by may be, in a history of
	 * minutes.
	 */
	long uncertainMillis() {
		long most = (this.jumps > 0) ? MOST_SKEW_MILLIS : this.skewMillis + MOST_DRIFT_MILLIS;
		return 2 * most + HybridLogicalClock.MAX_LEAD_MILLIS;
	}

	Replicas replicas() {
		return Replicas.majorityOf(this.factor);
	}

	boolean isCalm() {
		return this.loss == 0 && this.stragglers == 0 && this.jumps == 0 && this.partitions == 0 && this.crashes == 0
				&& this.diskTrouble == 0 && !this.diskHangs && this.skewMillis < 250 && !restartsSoon();
	}

}
