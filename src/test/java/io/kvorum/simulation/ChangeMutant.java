package io.kvorum.simulation;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Placement;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.change.Changeover.Comparison;
import io.kvorum.convergence.quarantine.Quarantine.PromiseRebuilding;
import io.kvorum.operation.ReplicationPolicy;
import reactor.core.publisher.Mono;

/**
 * A design with one shortcut in a change of the topology.
 *
 * @param counts the operations of a node in a change
 * @param accepts which other topologies a node works with besides those that it should
 * @param compares whether a node is compared with others before it is synced
 * @param waits whether the operator waits until the change is done
 */
record ChangeMutant(String name, UnaryOperator<Parts> counts, Acceptance accepts, boolean compares,
		boolean waits) implements Design {

	static Stream<ChangeMutant> all() {
		return Stream.of(
				new ChangeMutant("replicas before the change only", ChangeMutant::before, Acceptance.USUAL, true, true),
				new ChangeMutant("replicas after the change only", ChangeMutant::after, Acceptance.USUAL, true, true),
				new ChangeMutant("nodes before the change are never refused", UnaryOperator.identity(), Acceptance.ANY,
						true, true),
				new ChangeMutant("nodes after the change are never refused", UnaryOperator.identity(), Acceptance.AFTER,
						true, true),
				new ChangeMutant("synced without a comparison", UnaryOperator.identity(), Acceptance.USUAL, false,
						true));
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
			public void compareAnew() {
			}

			@Override
			public boolean isComparedAnew(Member other) {
				return true;
			}
		};
	}

	@Override
	public PromiseRebuilding promises(PromiseRebuilding usual) {
		return this.compares ? usual : (_, _) -> Mono.empty();
	}

	@Override
	public boolean repairs() {
		return this.compares;
	}

	@Override
	public boolean waitsForChange() {
		return this.waits;
	}

	@Override
	public boolean accepts(boolean usual, Topology own, Topology other) {
		return usual || switch (this.accepts) {
			case USUAL -> false;
			case AFTER -> own.parts().getLast().fingerprint() == other.fingerprint();
			case ANY -> true;
		};
	}

	@Override
	public double mistakes() {
		return (this.accepts == Acceptance.AFTER) ? 0.3 : Design.super.mistakes();
	}

	/** The other topologies that a node works with besides those that it should. */
	enum Acceptance {

		USUAL, AFTER, ANY

	}

	@Override
	public String toString() {
		return this.name;
	}

}
