package io.kvorum.simulation;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Placement;
import io.kvorum.convergence.change.Changeover.Comparison;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.replication.PromiseCopying;
import reactor.core.publisher.Mono;

/**
 * A design with one shortcut in a change of the topology.
 *
 * @param counts the operations of a node in a change
 * @param acceptsAll whether a node works with any other, whatever its topology is
 * @param compares whether a node is compared with others before it is synced
 * @param drains whether others are told of a layout only when earlier operations are over
 * @param followsFactor whether digests follow the number of replicas of a layout
 *
 */
record ChangeMutant(String name, UnaryOperator<Parts> counts, boolean acceptsAll, boolean compares, boolean drains,
		boolean followsFactor) implements Design {

	static Stream<ChangeMutant> all() {
		return Stream.of(
				new ChangeMutant("replicas before the change only", ChangeMutant::before, false, true, true, true),
				new ChangeMutant("replicas after the change only", ChangeMutant::after, false, true, true, true),
				new ChangeMutant("nodes before the change are never refused", UnaryOperator.identity(), true, true,
						true, true),
				new ChangeMutant("synced without a comparison", UnaryOperator.identity(), false, false, true, true),
				new ChangeMutant("digests keep the factor of the beginning", UnaryOperator.identity(), false, true,
						true, false));
	}

	/** Found by one in some ten thousand histories: operations seldom take so long. */
	static ChangeMutant rare() {
		return new ChangeMutant("others are told before earlier operations are over", UnaryOperator.identity(), false,
				true, false, true);
	}

	private static Parts before(Parts parts) {
		return only(parts, 0);
	}

	private static Parts after(Parts parts) {
		return only(parts, 1);
	}

	private static Parts only(Parts parts, int part) {
		Placement both = parts.placement();
		ReplicationPolicy policy = parts.policy().parts().get(part);
		return new Parts(parts.node(), (key, _, from) -> both.replicasOf(key, part, from), parts.replicas(),
				parts.clock(), new ReplicationPolicy(policy.nodes(), policy.factor(), List.of()), parts.missedStores(),
				parts.chance());
	}

	@Override
	public Parts inChange(Parts usual) {
		return this.counts.apply(usual);
	}

	@Override
	public Comparison comparison(Comparison usual) {
		return this.compares ? usual : new Comparison() {
			@Override
			public void compareAnew(Member other) {
			}

			@Override
			public boolean isComparedAnew(Member other) {
				return true;
			}

			@Override
			public boolean cannotRead(Member other) {
				return false;
			}
		};
	}

	@Override
	public PromiseCopying promises(PromiseCopying usual) {
		return this.compares ? usual : (_, _) -> Mono.empty();
	}

	@Override
	public boolean repairs() {
		return this.compares;
	}

	@Override
	public boolean drains() {
		return this.drains;
	}

	@Override
	public boolean accepts(boolean usual) {
		return usual || this.acceptsAll;
	}

	@Override
	public Duration longestWrite(Chance chance) {
		return this.drains ? Design.super.longestWrite(chance) : Duration.ofSeconds(30);
	}

	@Override
	public String toString() {
		return this.name;
	}

}
