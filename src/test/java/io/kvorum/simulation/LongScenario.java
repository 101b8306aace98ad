package io.kvorum.simulation;

/**
 * What a history of minutes is like.
 *
 * @param cluster the nodes, their network and their clocks
 * @param phases of work, with longer times between them
 * @param expiring so many of the keys get values that expire
 * @param eventual so many others get operations that ask for unusual copies
 * @param losesDisks whether disks are lost, or older ones put back
 * @param restoresAll whether all nodes are restored together from backups
 */
record LongScenario(Scenario cluster, int phases, int expiring, int eventual, boolean losesDisks, boolean restoresAll) {

	private static final int[][] CLUSTERS = { { 3, 3 }, { 3, 3 }, { 3, 3 }, { 3, 3 }, { 4, 3 }, { 5, 3 } };

	static LongScenario any(Chance chance) {
		int[] nodes = CLUSTERS[chance.below(CLUSTERS.length)];
		boolean calmNetwork = chance.of(0.3);
		boolean calmNodes = chance.of(0.2);
		Scenario cluster = new Scenario(nodes[0], nodes[1], 2 + chance.below(3), 2 + chance.below(2),
				3 + chance.below(6), calmNetwork ? 0 : chance.between(0, 0.05),
				calmNetwork ? 0 : chance.between(0, 0.02), calmNetwork ? 0 : chance.between(0, 0.03),
				chance.of(0.2) ? Scenario.MOST_SKEW_MILLIS : chance.of(0.5) ? 10 : 200, chance.below(3),
				calmNetwork ? 0 : chance.below(4), calmNodes ? 0 : 1 + chance.below(4), 0, false, 0);
		return new LongScenario(cluster, 2 + chance.below(4), chance.of(0.3) ? 1 : 0, chance.of(0.3) ? 1 : 0,
				chance.of(0.6), false);
	}

	/** Where a shortcut has little hope. */
	static LongScenario severe(Chance chance) {
		Scenario cluster = new Scenario(3, 3, 4, 2, 2 + chance.below(3), 0, 0, 0, 10, 0, 1, 1, 0, false, 0);
		return new LongScenario(cluster, 4, chance.below(2), 0, true, false);
	}

	/**
	 * All nodes are restored now and then. With clocks that differ by less than
	 * tombstones are kept longer than backups may differ.
	 */
	static LongScenario restoring(Chance chance) {
		int[] nodes = CLUSTERS[chance.below(CLUSTERS.length)];
		Scenario cluster = new Scenario(nodes[0], nodes[1], 4, 2, 2 + chance.below(3), 0, 0, 0, 200, 0, chance.below(2),
				chance.below(2), 0, false, 0);
		return new LongScenario(cluster, 5, chance.below(2), chance.below(2), chance.of(0.3), true);
	}

}
