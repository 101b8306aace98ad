package io.kvorum.app;

import java.util.List;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.antientropy.AntiEntropy;
import io.kvorum.convergence.change.ChangeState;
import io.kvorum.convergence.change.Changeover;
import io.kvorum.convergence.hints.HintedHandoff;
import io.kvorum.convergence.quarantine.Quarantine;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.Replica;
import reactor.core.publisher.Flux;

/**
 * The parts of a node that are made for one layout, and made anew for the next one.
 *
 * @param self this node in the topology of the layout
 * @param replicas the replicas of all members, by the index of the member
 */
record LayoutParts(Layout layout, Member self, RendezvousPlacement placement, ChangeState change, LocalReplica local,
		List<Replica> replicas, HintedHandoff handoff, AntiEntropy antiEntropy, Quarantine quarantine,
		Changeover changeover) {

	Topology topology() {
		return this.layout.topology();
	}

	/** All that runs from the begin of the layout on. The changeover begins later. */
	Flux<?> run() {
		return Flux.merge(this.quarantine.run(), this.antiEntropy.run(), this.handoff.run());
	}

	/** Makes the parts of a layout. */
	@FunctionalInterface
	interface Factory {

		LayoutParts of(Layout layout, Member self, RendezvousPlacement placement, ChangeState change,
				LocalReplica local, List<Replica> replicas);

	}

}
