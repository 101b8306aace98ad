package io.kvorum.simulation;

import java.util.List;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Placement;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.Replica;

/** What the operations of a node are made of. */
record Parts(SimulatedNode node, Placement placement, List<Replica> replicas, HybridLogicalClock clock,
		ReplicationPolicy policy, MissedStores missedStores, Chance chance) {
}
