package io.kvorum.simulation;

import java.util.function.Function;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code -Dkvorum.simulation.histories=<number>} runs that many;
 * {@code -Dkvorum.simulation.seed=<number>} runs one and prints all that happened.
 */
class SimulationTests {

	private static final int HISTORIES = Integer.getInteger("kvorum.simulation.histories", 20_000);

	/** By which every mutant has to be caught. */
	private static final int MUTANT_HISTORIES = 20_000;

	@Test
	void whateverGoesWrongOperationsAreLinearizableAndEndInTimeAndSucceedWhenAllIsPutRight() {
		Long asked = Long.getLong("kvorum.simulation.seed");
		if (asked != null) {
			String story = Simulation.story(asked, Scenario::any, Design.PRODUCT);
			System.out.println(story);
			assertThat(story).endsWith("All is well.");
			return;
		}
		assertAllWell(HISTORIES, Scenario::any, Design.PRODUCT);
	}

	@Test
	void whereNothingGoesWrongEveryOperationSucceeds() {
		assertAllWell(1_000, Scenario::calm, Design.PRODUCT);
	}

	@Test
	void whereOneNodeIsDownOrCutOffEveryOperationOnTheOthersSucceeds() {
		assertAllWell(1_000, Scenario::oneAway, Design.PRODUCT);
	}

	@Test
	void thePlainCoordinatorWithoutShortcutsIsLinearizableToo() {
		assertAllWell(2_000, Scenario::any, new Design() {
			@Override
			public Operations operations(Parts parts) {
				return new ShortcutCoordinator(parts, ShortcutCoordinator.Shortcuts.NONE);
			}
		});
	}

	@ParameterizedTest
	@MethodSource("io.kvorum.simulation.Mutant#all")
	void aShortcutIsFound(Mutant mutant) {
		for (int seed = 1; seed <= MUTANT_HISTORIES; seed++) {
			String fault = Simulation.run(seed, Scenario::any, mutant);
			if (fault != null && fault.contains("Not linearizable")) {
				System.out.printf("%-40s %6d histories%n", mutant, seed);
				return;
			}
		}
		throw new AssertionError(mutant + " shows nothing in " + MUTANT_HISTORIES + " histories");
	}

	private static void assertAllWell(int histories, Function<Chance, Scenario> scenarios, Design design) {
		for (int seed = 1; seed <= histories; seed++) {
			if (Simulation.run(seed, scenarios, design) != null) {
				throw new AssertionError(Simulation.story(seed, scenarios, design));
			}
		}
	}

}
