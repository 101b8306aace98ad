package io.kvorum.simulation;

import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.LongStream;

import io.kvorum.kv.Version;
import io.kvorum.testing.history.Violation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code -Dkvorum.simulation.histories=<number>} runs that many, from
 * {@code -Dkvorum.simulation.first=<seed>} on; {@code -Dkvorum.simulation.seed=<seed>}
 * runs one and prints all that happened in it.
 */
class SimulationTests {

	private static final int HISTORIES = Integer.getInteger("kvorum.simulation.histories", 20_000);

	private static final long FIRST = Long.getLong("kvorum.simulation.first", 1);

	private static final int CONTENDED_HISTORIES = Integer.getInteger("kvorum.simulation.contended.histories", 10_000);

	/** By which every mutant has to be caught. */
	private static final int MUTANT_HISTORIES = Integer.getInteger("kvorum.simulation.mutant.histories", 5_000);

	private static final List<String> FAULTS = List.of(Violation.NOT_LINEARIZABLE, SimulatedRange.WRONG,
			SimulatedCluster.TWO_ETAGS, SimulatedCluster.TWO_OUTCOMES, SimulatedCluster.NOT_THE_SAME);

	/** By which one that needs several losses on one key has to be caught. */
	private static final int RARE_MUTANT_HISTORIES = 20_000;

	@Test
	void whateverGoesWrongOperationsAreLinearizableAndEndInTimeAndSucceedWhenAllIsPutRight() {
		Long asked = Long.getLong("kvorum.simulation.seed");
		if (asked != null) {
			String story = Simulation.story(asked, Scenario::any, Design.PRODUCT);
			System.out.println(story);
			assertThat(story).endsWith(Simulation.ALL_IS_WELL);
			return;
		}
		long started = System.nanoTime();
		assertAllWell(HISTORIES, Scenario::any, Design.PRODUCT);
		System.out.printf("%d histories, %.0f a second%n", HISTORIES, HISTORIES * 1e9 / (System.nanoTime() - started));
	}

	@Test
	void whereManyWriteOneKeyOnConditionsAndNodesTripOperationsAreLinearizable() {
		Long asked = Long.getLong("kvorum.simulation.contended");
		if (asked != null) {
			System.out.println(Simulation.story(asked, Scenario::contended, Design.PRODUCT));
		}
		assertAllWell(CONTENDED_HISTORIES, Scenario::contended, Design.PRODUCT);
	}

	@Test
	void whereNothingGoesWrongEveryOperationSucceeds() {
		assertAllWell(1_000, Scenario::calm, Design.PRODUCT);
	}

	@Test
	void whereAMinorityIsDownOrCutOffEveryOperationOnTheOthersSucceeds() {
		assertAllWell(1_000, Scenario::someAway, Design.PRODUCT);
	}

	@Test
	void theSameSeedGivesTheSameStory() {
		for (int seed = 1; seed <= 50; seed++) {
			assertThat(Simulation.story(seed, Scenario::any, Design.PRODUCT))
				.isEqualTo(Simulation.story(seed, Scenario::any, Design.PRODUCT));
		}
	}

	@Test
	void thePlainCoordinatorWithoutShortcutsIsLinearizableToo() {
		assertAllWell(2_000, Scenario::any, new Design() {
			@Override
			public Operations operations(Parts parts) {
				return new ShortcutCoordinator(parts, ShortcutCoordinator.Shortcuts.NONE);
			}

			@Override
			public boolean knowsConditions() {
				return false;
			}
		});
	}

	@ParameterizedTest
	@MethodSource("io.kvorum.simulation.Mutant#all")
	void aShortcutIsFound(Mutant mutant) {
		assertFound(mutant, Scenario::any, MUTANT_HISTORIES);
	}

	@ParameterizedTest
	@MethodSource("io.kvorum.simulation.Mutant#conditional")
	void aShortcutWithConditionsIsFound(Mutant mutant) {
		assertFound(mutant, Scenario::contended, MUTANT_HISTORIES);
	}

	@Test
	void aReplicaThatTakesEveryTombstoneForCollectedIsFound() {
		assertFound(new Design() {
			@Override
			public Predicate<Version> collected(Predicate<Version> usual) {
				return _ -> true;
			}

			@Override
			public String toString() {
				return "every tombstone is taken for collected";
			}
		}, Scenario::any, RARE_MUTANT_HISTORIES);
	}

	private static void assertFound(Design mutant, Function<Chance, Scenario> scenarios, int histories) {
		MutantSearch.assertFound(mutant, 1, histories,
				seed -> MutantSearch.having(Simulation.run(seed, scenarios, mutant), FAULTS));
	}

	private static void assertAllWell(int histories, Function<Chance, Scenario> scenarios, Design design) {
		LongStream.range(FIRST, FIRST + histories)
			.parallel()
			.filter(seed -> Simulation.run(seed, scenarios, design) != null)
			.findFirst()
			.ifPresent(seed -> {
				throw new AssertionError(Simulation.story(seed, scenarios, design));
			});
	}

}
