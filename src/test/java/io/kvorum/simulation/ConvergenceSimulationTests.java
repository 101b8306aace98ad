package io.kvorum.simulation;

import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.kvorum.kv.Version;
import io.kvorum.testing.history.Violation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * As {@link SimulationTests}, of histories that last for minutes.
 * {@code -Dkvorum.simulation.long=<number>} runs that many.
 */
@ExtendWith(WithoutWarnings.class)
class ConvergenceSimulationTests {

	private static final int HISTORIES = Integer.getInteger("kvorum.simulation.long", 100);

	private static final long FIRST = Long.getLong("kvorum.simulation.first", 1);

	/** By which every mutant has to be caught. */
	private static final int MUTANT_HISTORIES = 100;

	/** By which the one that is shown where all nodes are restored has to be caught. */
	private static final int RESTORING_HISTORIES = 500;

	private static final List<String> FAULTS = List.of(Violation.NOT_LINEARIZABLE, KeyHistory.CAME_BACK,
			LongSimulation.NOT_EQUAL, SimulatedCluster.NOT_THE_SAME);

	/** Before these it is rare: where it shows changes with whatever asks for chances. */
	private static final int FIRST_RESTORING = 701;

	private static final int TAKING_BACK_HISTORIES = 10;

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
		assertAllWell(HISTORIES, LongScenario::any);
		System.out.printf("%d histories of minutes, %.1f a second%n", HISTORIES,
				HISTORIES * 1e9 / (System.nanoTime() - started));
	}

	@Test
	void whereMutantsAreCaughtTheProductIsNot() {
		assertAllWell(HISTORIES / 4, LongScenario::severe);
	}

	@Test
	void whereAllNodesAreRestoredWhatWasAcknowledgedBeforeTheFirstBackupIsThereAndWhatWasDeletedStaysSo() {
		Long asked = Long.getLong("kvorum.simulation.restoring");
		if (asked != null) {
			System.out.println(LongSimulation.story(asked, LongScenario::restoring, Design.PRODUCT));
		}
		assertAllWell(HISTORIES / 2, LongScenario::restoring);
	}

	@Test
	void theSameSeedGivesTheSameStory() {
		assertThat(LongSimulation.story(1, LongScenario::any, Design.PRODUCT))
			.isEqualTo(LongSimulation.story(1, LongScenario::any, Design.PRODUCT));
	}

	@ParameterizedTest
	@MethodSource("io.kvorum.simulation.ConvergenceMutant#all")
	void aShortcutIsFound(ConvergenceMutant mutant) {
		assertFound(mutant, LongScenario::severe, 1, MUTANT_HISTORIES);
	}

	@Test
	void aNodeThatVotesHoweverOldItsBackupIsIsFound() {
		assertFound(ConvergenceMutant.withoutAges(), LongScenario::restoring, FIRST_RESTORING, RESTORING_HISTORIES);
	}

	@Test
	void aNodeThatTakesBackTheTombstonesThatItHasCollectedKeepsThemWhileClientsAskForThem() {
		Design takesBack = new Design() {
			@Override
			public Predicate<Version> collected(Predicate<Version> usual) {
				return _ -> false;
			}
		};
		assertThat(LongStream.rangeClosed(1, TAKING_BACK_HISTORIES)
			.mapToObj(seed -> LongSimulation.run(seed, LongScenario::severe, takesBack)))
			.anyMatch(fault -> fault != null && fault.contains(LongSimulation.NOT_COLLECTED));
	}

	private static void assertFound(ConvergenceMutant mutant, Function<Chance, LongScenario> scenarios, int first,
			int histories) {
		MutantSearch.assertFound(mutant, first, histories,
				seed -> MutantSearch.having(LongSimulation.run(seed, scenarios, mutant), FAULTS));
	}

	private static void assertAllWell(int histories, Function<Chance, LongScenario> scenarios) {
		LongStream.range(FIRST, FIRST + histories)
			.parallel()
			.filter(seed -> LongSimulation.run(seed, scenarios, Design.PRODUCT) != null)
			.findFirst()
			.ifPresent(seed -> {
				throw new AssertionError(LongSimulation.story(seed, scenarios, Design.PRODUCT));
			});
	}

}
