package io.kvorum.simulation;

import java.util.List;
import java.util.function.Function;
import java.util.stream.LongStream;

import io.kvorum.testing.history.Violation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * As {@link SimulationTests}, of ballots that meet repairs and lost disks.
 * {@code -Dkvorum.simulation.promises=<number>} runs that many.
 */
@ExtendWith(WithoutWarnings.class)
class PromiseSimulationTests {

	private static final int HISTORIES = Integer.getInteger("kvorum.simulation.promises", 100);

	private static final long FIRST = Long.getLong("kvorum.simulation.first", 1);

	/** By which every mutant has to be caught. */
	private static final int MUTANT_HISTORIES = 500;

	/**
	 * Where the first entry was accepted between the copies of entries and of promises.
	 */
	private static final long FIRST_MEANWHILE = Long.getLong("kvorum.simulation.meanwhile", 1001);

	private static final int MEANWHILE_HISTORIES = Integer.getInteger("kvorum.simulation.meanwhile.histories", 10);

	@Test
	void whereABallotIsLeftInTheMiddleRepairsAndRebuiltNodesKeepItsPromises() {
		Long asked = Long.getLong("kvorum.simulation.seed");
		if (asked != null) {
			System.out.println(PromiseSimulation.story(asked, PromiseScenario::any, Design.PRODUCT));
			return;
		}
		assertAllWell(FIRST, HISTORIES, PromiseScenario::any);
	}

	@Test
	void whatIsAcceptedWhileANodeIsRebuiltIsCopiedToIt() {
		assertAllWell(FIRST_MEANWHILE, MEANWHILE_HISTORIES, PromiseScenario::rebuiltMeanwhile);
	}

	@ParameterizedTest
	@MethodSource("io.kvorum.simulation.PromiseMutant#all")
	void aShortcutIsFound(PromiseMutant mutant) {
		MutantSearch.assertFound(mutant, 1, MUTANT_HISTORIES, seed -> MutantSearch
			.having(PromiseSimulation.run(seed, mutant.scenarios(), mutant), List.of(Violation.NOT_LINEARIZABLE)));
	}

	private static void assertAllWell(long first, int histories, Function<Chance, PromiseScenario> scenarios) {
		LongStream.range(first, first + histories)
			.parallel()
			.filter(seed -> PromiseSimulation.run(seed, scenarios, Design.PRODUCT) != null)
			.findFirst()
			.ifPresent(seed -> {
				throw new AssertionError(PromiseSimulation.story(seed, scenarios, Design.PRODUCT));
			});
	}

}
