package io.kvorum.simulation;

/**
 * What a history of a ballot that is left in the middle is like.
 *
 * @param begins whether there is a value
 * @param reachesNone whether the write without a condition reaches no other node
 * @param cutsWriter whether its node and the proposer are cut off from each other
 * @param losesDisk whether the first node that answers a promise loses its disk
 * @param leaves what becomes of the proposer, when it asks others to accept
 */
record PromiseScenario(Scenario cluster, boolean begins, boolean reachesNone, boolean cutsWriter, boolean losesDisk,
		Leaving leaves) {

	static PromiseScenario any(Chance chance) {
		return switch (chance.below(5)) {
			case 0 -> repaired(chance);
			case 1 -> rebuilt(chance);
			case 2 -> rebuiltMeanwhile(chance);
			case 3 -> lost(chance);
			default -> of(chance, chance.of(0.3) ? 0.3 : 0, chance.of(0.5), chance.of(0.5),
					Leaving.values()[chance.below(Leaving.values().length)]);
		};
	}

	/** A repair brings what the proposer has not seen. */
	static PromiseScenario repaired(Chance chance) {
		return of(chance, 0, true, false, Leaving.CUT_OFF);
	}

	/** A node that has promised loses its disk, and is asked to store what is older. */
	static PromiseScenario rebuilt(Chance chance) {
		return of(chance, 0.4, false, true, Leaving.CUT_OFF);
	}

	/** A node loses its disk when it has promised, or has accepted. */
	static PromiseScenario lost(Chance chance) {
		return of(chance, 0, true, true, Leaving.LATER);
	}

	/** Such a node is rebuilt before what was proposed is on a disk. */
	static PromiseScenario rebuiltMeanwhile(Chance chance) {
		return of(chance, 0, true, true, Leaving.HANGS);
	}

	private static PromiseScenario of(Chance chance, double stragglers, boolean reachesNone, boolean losesDisk,
			Leaving leaves) {
		Scenario cluster = new Scenario(3, 3, 1, 0, 0, 0, 0, stragglers, 10, 0, 0, 0, 0, leaves == Leaving.HANGS, 0);
		return new PromiseScenario(cluster, chance.of(0.7), reachesNone, chance.of(0.8), losesDisk, leaves);
	}

	/** What becomes of a proposer. */
	enum Leaving {

		/** It is cut off. */
		CUT_OFF,

		/** It is cut off when they may have done so. */
		LATER,

		/** Its disk hangs for seconds. */
		HANGS

	}

}
