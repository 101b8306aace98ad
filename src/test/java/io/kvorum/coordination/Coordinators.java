package io.kvorum.coordination;

import java.time.Duration;
import java.util.List;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.coordination.CoordinationSettings.Idempotency;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.range.RangeEvents;
import io.kvorum.range.RangeSettings;
import io.kvorum.range.Ranges;
import io.kvorum.replication.Alarms;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.Replica;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.StorageEngine;
import io.kvorum.testing.Placements;
import reactor.core.publisher.Mono;

/** Coordinators for tests. */
public final class Coordinators {

	static final CoordinationSettings SETTINGS = new CoordinationSettings(Duration.ofSeconds(1), Duration.ofSeconds(2),
			Duration.ofMillis(35), new Idempotency(Duration.ofMinutes(10), 100));

	private static final RangeSettings RANGES = new RangeSettings(4, 64 << 20, 64 << 10, 1 << 20,
			Duration.ofSeconds(1));

	private Coordinators() {
	}

	/** Of a cluster of one. */
	public static Coordinator alone(StorageEngine storage, HybridLogicalClock clock, TimeSource time) {
		Topology topology = Topology.alone();
		Member self = topology.members().getFirst();
		return of(topology, self, List.of(LocalReplica.alone(self, storage, clock, time)), clock, time,
				_ -> Mono.never());
	}

	static Coordinator of(Topology topology, Member self, List<? extends Replica> replicas, HybridLogicalClock clock,
			TimeSource time, Alarms alarms) {
		return new Coordinator(
				new View(Placements.of(topology), self, replicas,
						new ReplicationPolicy(topology.size(), topology.factor())),
				clock, time, SETTINGS, new ReadRepair(time, SETTINGS.writeTimeout(), CoordinationEvents.NONE),
				MissedStores.NONE, alarms, CallerThreads.NONE, CoordinationEvents.NONE,
				rangesOf(topology, replicas, time));
	}

	/** Ranges that no test of a coordinator opens. */
	public static Ranges rangesOf(Topology topology, List<? extends Replica> replicas, TimeSource time) {
		return new Ranges(topology, (key, part, from) -> topology.members().subList(0, from),
				topology.members().getFirst(), replicas, RANGES, time, RangeEvents.NONE);
	}

}
