package io.kvorum.simulation;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * As {@link SimulationTests}, of histories that last for minutes.
 */
class ConvergenceSimulationTests {

	private static final int HISTORIES = Integer.getInteger("kvorum.simulation.histories", 500);

	private static final long FIRST = Long.getLong("kvorum.simulation.first", 1);

	@Test
	void whateverGoesWrongReplicasBecomeEqualAndWhatIsDeletedStaysSo() {
		Long asked = Long.getLong("kvorum.simulation.seed");
		if (asked != null) {
			String story = LongSimulation.story(asked, LongScenario::any, Design.PRODUCT);
			System.out.println(story);
			assertThat(story).endsWith(Simulation.ALL_IS_WELL);
			return;
		}
		long started = System.nanoTime();
		for (long seed = FIRST; seed < FIRST + HISTORIES; seed++) {
			if (LongSimulation.run(seed, LongScenario::any, Design.PRODUCT) != null) {
				throw new AssertionError(LongSimulation.story(seed, LongScenario::any, Design.PRODUCT));
			}
		}
		System.out.printf("%d histories of minutes, %.0f a second%n", HISTORIES,
				HISTORIES * 1e9 / (System.nanoTime() - started));
	}

}
