package io.kvorum.simulation;

import java.util.List;
import java.util.stream.LongStream;

import io.kvorum.testing.history.Violation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * As {@link SimulationTests}, of histories in which the nodes of the cluster change.
 * {@code -Dkvorum.simulation.changes=<number>} runs that many, from the seed
 * {@code kvorum.simulation.first} on. CI runs others each night.
 */
@ExtendWith(WithoutWarnings.class)
class ChangeSimulationTests {

	private static final int HISTORIES = Integer.getInteger("kvorum.simulation.changes", 8_000);

	private static final long FIRST = Long.getLong("kvorum.simulation.first", 1);

	/** Where the rarest one shows soon: one in a thousand histories does. */
	private static final int FIRST_OF_MUTANTS = 3_050;

	/** By which every mutant has to be caught. */
	private static final int MUTANT_HISTORIES = Integer.getInteger("kvorum.simulation.mutant.histories", 500);

	@Test
	void whileNodesComeAndGoOperationsAreLinearizableAndEachChangeIsDone() {
		Long asked = Long.getLong("kvorum.simulation.seed");
		if (asked != null) {
			String story = ChangeSimulation.story(asked, Design.PRODUCT);
			System.out.println(story);
			assertThat(story).endsWith(Simulation.ALL_IS_WELL);
			return;
		}
		long started = System.nanoTime();
		LongStream.range(FIRST, FIRST + HISTORIES)
			.parallel()
			.filter(seed -> ChangeSimulation.run(seed, Design.PRODUCT) != null)
			.findFirst()
			.ifPresent(seed -> {
				throw new AssertionError(ChangeSimulation.story(seed, Design.PRODUCT));
			});
		System.out.printf("%d histories of changes, %.1f a second%n", HISTORIES,
				HISTORIES * 1e9 / (System.nanoTime() - started));
	}

	/** With {@code -Dkvorum.simulation.mutant.histories=50000}. */
	@Test
	@EnabledIfSystemProperty(named = "kvorum.simulation.mutant.histories", matches = "[0-9]{5,}")
	void aShortcutThatSeldomMattersIsFound() {
		aShortcutIsFound(ChangeMutant.rare());
	}

	@ParameterizedTest
	@MethodSource("io.kvorum.simulation.ChangeMutant#all")
	void aShortcutIsFound(Design mutant) {
		MutantSearch.assertFound(mutant, FIRST_OF_MUTANTS, MUTANT_HISTORIES,
				seed -> MutantSearch.having(ChangeSimulation.run(seed, mutant), List.of(Violation.NOT_LINEARIZABLE)));
	}

}
