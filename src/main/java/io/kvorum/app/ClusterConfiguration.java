package io.kvorum.app;

import java.util.List;

import io.kvorum.app.KvorumProperties.Cluster;
import io.kvorum.app.KvorumProperties.Range;
import io.kvorum.app.KvorumProperties.Replication;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.ReplicaAddress;
import io.kvorum.cluster.Topology;
import io.kvorum.coordination.CoordinationEvents;
import io.kvorum.coordination.CoordinationSettings;
import io.kvorum.coordination.Coordinator;
import io.kvorum.coordination.Inspection;
import io.kvorum.coordination.ReadRepair;
import io.kvorum.coordination.View;
import io.kvorum.kv.Entry;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.range.RangeEvents;
import io.kvorum.range.RangeSettings;
import io.kvorum.range.Ranges;
import io.kvorum.replication.MissedStores;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Configures the operations of a node on its cluster, whether it has peers or not. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "rocksdb", matchIfMissing = true)
class ClusterConfiguration {

	@Bean
	Topology topology(KvorumProperties properties) {
		return properties.topology();
	}

	@Bean
	RendezvousPlacement placement(Topology topology) {
		return new RendezvousPlacement(topology);
	}

	@Bean
	Member self(Topology topology, KvorumProperties properties) {
		ReplicaAddress address = properties.cluster().address();
		return (address != null) ? topology.member(address.toString()) : topology.members().getFirst();
	}

	@Bean
	ReadRepair readRepair(TimeSource time, KvorumProperties properties, CoordinationEvents events) {
		return new ReadRepair(time, properties.replication().writeTimeout(), events);
	}

	@Bean
	BackgroundWork backgroundWork(ReadRepair readRepair) {
		return BackgroundWork.of(BackgroundWork.STORE_OPEN, readRepair.run());
	}

	@Bean
	Coordinator coordinator(Topology topology, RendezvousPlacement placement, Member self, AllReplicas replicas,
			HybridLogicalClock clock, TimeSource time, KvorumProperties properties, ReadRepair readRepair,
			MissedStores missedStores, EventLoopCallers callers, CoordinationEvents events, Ranges ranges) {
		Replication replication = properties.replication();
		return new Coordinator(viewOf(topology, placement, self, replicas, properties), clock, time,
				new CoordinationSettings(replication.readTimeout(), replication.writeTimeout(),
						properties.cluster().hedgeDelay(), idempotencyOf(properties)),
				readRepair, missedStores, new CallerAlarms(callers), callers, events, ranges);
	}

	/** The view with which a node begins. */
	private static View viewOf(Topology topology, RendezvousPlacement placement, Member self, AllReplicas replicas,
			KvorumProperties properties) {
		Cluster cluster = properties.cluster();
		boolean isWaiting = !cluster.isAlone() && !cluster.isFounder();
		ReplicationPolicy unknown = new ReplicationPolicy(Entry.MAX_COPIES, properties.replication().factor());
		return isWaiting
				? View.none(self, replicas.byMember().getFirst(), unknown, LiveLayout.waits(cluster.joining() != null))
				: new View(placement, self, replicas.byMember(), policyOf(topology));
	}

	static ReplicationPolicy policyOf(Topology topology) {
		List<ReplicationPolicy> parts = topology.isChanging()
				? topology.parts().stream().map(ClusterConfiguration::policyOf).toList() : List.of();
		return new ReplicationPolicy(topology.size(), topology.factor(), parts);
	}

	private static CoordinationSettings.Idempotency idempotencyOf(KvorumProperties properties) {
		return new CoordinationSettings.Idempotency(properties.idempotencyRetention(),
				properties.idempotency().maxRecords());
	}

	/** Inspection of a key for operators, with the time limit of a read. */
	@Bean
	Inspection inspection(Topology topology, RendezvousPlacement placement, AllReplicas replicas,
			HybridLogicalClock clock, KvorumProperties properties) {
		return new Inspection(topology, placement, replicas.byMember(), clock.expiryTime(),
				properties.replication().readTimeout());
	}

	@Bean
	Ranges ranges(Topology topology, RendezvousPlacement placement, Member self, AllReplicas replicas,
			HybridLogicalClock clock, KvorumProperties properties, RangeEvents events) {
		return new Ranges(topology, placement, self, replicas.byMember(), settingsOf(properties), clock.expiryTime(),
				events);
	}

	static RangeSettings settingsOf(KvorumProperties properties) {
		Range range = properties.range();
		return new RangeSettings(range.maxConcurrent(), range.maxInFlightSize().toBytes(),
				(int) range.pageSize().toBytes(), properties.api().maxValueSize().toBytes(), range.pageTimeout());
	}

}
