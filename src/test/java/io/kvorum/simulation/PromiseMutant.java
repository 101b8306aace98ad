package io.kvorum.simulation;

import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.kvorum.kv.Version;
import io.kvorum.replication.PromiseCopying;
import io.kvorum.replication.VotingRight;
import io.kvorum.simulation.SimulatedDisk.Manners;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A design with one shortcut in what becomes of promises where replicas are made equal.
 *
 * @param scenarios the histories that show it
 */
record PromiseMutant(String name, Function<Chance, PromiseScenario> scenarios, Manners disk,
		UnaryOperator<VotingRight> right, UnaryOperator<PromiseCopying> rebuilding) implements Design {

	static Stream<PromiseMutant> all() {
		UnaryOperator<VotingRight> usual = UnaryOperator.identity();
		UnaryOperator<PromiseCopying> whole = UnaryOperator.identity();
		return Stream.of(
				new PromiseMutant("repairs below a promise are stored", PromiseScenario::repaired, Manners.REPAIR_BELOW,
						usual, whole),
				new PromiseMutant("a node that has lost its disk takes part in ballots", PromiseScenario::lost,
						Manners.WELL, Voting::new, whole),
				new PromiseMutant("a node that has lost its disk takes what was stamped before",
						PromiseScenario::rebuilt, Manners.WELL, WithoutFloor::new, whole),
				new PromiseMutant("a rebuilt node asks for no promises", PromiseScenario::rebuiltMeanwhile,
						Manners.WELL, usual, _ -> (_, _) -> Mono.empty()),
				new PromiseMutant("a rebuilt node does not settle what it has promised",
						PromiseScenario::rebuiltMeanwhile, Manners.WELL, usual,
						copies -> (from, _) -> copies.copy(from, false)));
	}

	@Override
	public VotingRight votingRight(VotingRight usual) {
		return this.right.apply(usual);
	}

	@Override
	public PromiseCopying promises(PromiseCopying usual) {
		return this.rebuilding.apply(usual);
	}

	@Override
	public String toString() {
		return this.name;
	}

	/** Is never withheld. */
	private record Voting(VotingRight usual) implements VotingRight {

		@Override
		public @Nullable String withheldBecause() {
			return null;
		}

		@Override
		public Version floor() {
			return this.usual.floor();
		}

	}

	/** Has no version below which it acknowledges nothing. */
	private record WithoutFloor(VotingRight usual) implements VotingRight {

		@Override
		public @Nullable String withheldBecause() {
			return this.usual.withheldBecause();
		}

	}

}
