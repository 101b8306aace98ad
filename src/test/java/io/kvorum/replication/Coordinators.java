package io.kvorum.replication;

import java.time.Duration;
import java.util.List;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.StorageEngine;
import reactor.core.publisher.Mono;

/** Coordinators for tests. */
final class Coordinators {

	static final ReplicationSettings SETTINGS = new ReplicationSettings(Duration.ofSeconds(1), Duration.ofSeconds(2),
			Duration.ofMillis(35));

	private Coordinators() {
	}

	/** Of a cluster of one. */
	static Coordinator alone(StorageEngine storage, HybridLogicalClock clock, TimeSource time) {
		Topology topology = Topology.alone();
		Member self = topology.members().getFirst();
		return of(topology, self, List.of(LocalReplica.alone(self, storage, clock, time)), clock, time,
				_ -> Mono.never());
	}

	static Coordinator of(Topology topology, Member self, List<? extends Replica> replicas, HybridLogicalClock clock,
			TimeSource time, Alarms alarms) {
		return new Coordinator(new RendezvousPlacement(topology), self, replicas, clock, time,
				new ReplicationPolicy(topology.size(), topology.factor()), SETTINGS,
				new ReadRepair(time, SETTINGS.writeTimeout(), ReplicationEvents.NONE), MissedStores.NONE, alarms,
				CallerThreads.NONE, ReplicationEvents.NONE);
	}

}
