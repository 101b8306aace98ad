package io.kvorum.app;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;

import io.kvorum.app.KvorumProperties.Cluster;
import io.kvorum.app.KvorumProperties.Range;
import io.kvorum.app.KvorumProperties.Replication;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.replication.Coordinator;
import io.kvorum.replication.Inspection;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.RangeEvents;
import io.kvorum.replication.RangeSettings;
import io.kvorum.replication.MissedStores;
import io.kvorum.replication.Ranges;
import io.kvorum.replication.ReadRepair;
import io.kvorum.replication.Replica;
import io.kvorum.replication.ReplicationEvents;
import io.kvorum.replication.ReplicationPolicy;
import io.kvorum.replication.ReplicationSettings;
import io.kvorum.replication.handoff.Handoff;
import io.kvorum.replication.rejoin.Roster;
import io.kvorum.storage.StorageEngine;
import io.kvorum.transport.ReplicaTransport;
import io.kvorum.transport.TransportEvents;
import io.kvorum.transport.TransportSettings;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.util.StringUtils;
import org.springframework.web.reactive.function.client.WebClient;

/** Puts together what a node has of its cluster. */
@Configuration(proxyBeanMethods = false)
class ClusterConfiguration {

	/**
	 * The most that kvorum.api.max-value-size can be: what other nodes take, or took
	 * once, must not end a stream here.
	 */
	private static final int MAX_ENTRY_BYTES = 64 << 20;

	/**
	 * How long a node that starts waits for its peers: for one that is silent, or does
	 * not open streams to this node, in vain.
	 */
	private static final Duration PEERS_TIMEOUT = Duration.ofSeconds(5);

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
	LocalReplica localReplica(Member self, StorageEngine storage, HybridLogicalClock clock, TimeSource time,
			ObjectProvider<Roster> roster) {
		Roster ofPeers = roster.getIfAvailable();
		return (ofPeers != null) ? new LocalReplica(self, storage, clock, time, ofPeers, ofPeers)
				: LocalReplica.alone(self, storage, clock, time);
	}

	@Bean
	ReadRepair readRepair(TimeSource time, KvorumProperties properties, ReplicationEvents events) {
		return new ReadRepair(time, properties.replication().writeTimeout(), events);
	}

	@Bean
	BackgroundWork backgroundWork(ReadRepair readRepair) {
		return new BackgroundWork(List.of(readRepair.run()));
	}

	@Bean
	Coordinator coordinator(Topology topology, RendezvousPlacement placement, LocalReplica local,
			ObjectProvider<ReplicaTransport> transport, HybridLogicalClock clock, TimeSource time,
			KvorumProperties properties, ReadRepair readRepair, ObjectProvider<Handoff> handoff,
			EventLoopCallers callers, ReplicationEvents events) {
		Replication replication = properties.replication();
		return new Coordinator(placement, local.member(), replicas(local, transport), clock, time,
				new ReplicationPolicy(topology.size(), topology.factor()),
				new ReplicationSettings(replication.readTimeout(), replication.writeTimeout(),
						properties.cluster().hedgeDelay()),
				readRepair, missedStores(handoff), new EventLoopAlarms(callers), callers, events);
	}

	private static MissedStores missedStores(ObjectProvider<Handoff> handoff) {
		Handoff ofPeers = handoff.getIfAvailable();
		return (ofPeers != null) ? ofPeers : MissedStores.NONE;
	}

	/** For operators; within the time of a read, as for clients. */
	@Bean
	Inspection inspection(Topology topology, RendezvousPlacement placement, LocalReplica local,
			ObjectProvider<ReplicaTransport> transport, HybridLogicalClock clock, KvorumProperties properties) {
		return new Inspection(topology, placement, replicas(local, transport), clock.expiryTime(),
				properties.replication().readTimeout());
	}

	@Bean
	Ranges ranges(Topology topology, LocalReplica local, ObjectProvider<ReplicaTransport> transport,
			HybridLogicalClock clock, KvorumProperties properties, RangeEvents events) {
		return new Ranges(topology, local.member(), replicas(local, transport), settingsOf(properties),
				clock.expiryTime(), events);
	}

	static RangeSettings settingsOf(KvorumProperties properties) {
		Range range = properties.range();
		return new RangeSettings(range.maxConcurrent(), range.maxInFlightSize().toBytes(),
				(int) range.pageSize().toBytes(), properties.api().maxValueSize().toBytes(), range.pageTimeout());
	}

	private static List<? extends Replica> replicas(LocalReplica local, ObjectProvider<ReplicaTransport> transport) {
		return transport.stream().findFirst().map(ReplicaTransport::replicas).orElse(List.of(local));
	}

	@Bean
	@Conditional(HasPeers.class)
	ReplicaTransport replicaTransport(Topology topology, LocalReplica local, KvorumProperties properties,
			ReactorResourceFactory resources, WebClient.Builder clients, EventLoopCallers callers, TimeSource time,
			SslBundles bundles, TransportEvents events) {
		Cluster cluster = properties.cluster();
		return new ReplicaTransport(listenAddress(ReplicaAddress.parse(local.member().address())), topology, local,
				new TransportSettings(cluster.secret(), ReplicaCertificate.follow(cluster, bundles),
						cluster.connectTimeout(), cluster.silenceTimeout(), cluster.probeInterval(), PEERS_TIMEOUT,
						cluster.maxInFlight(), MAX_ENTRY_BYTES),
				resources.getLoopResources(), clients, callers::learn, callers, time, new SecureRandom()::nextLong,
				events);
	}

	/** A loopback address is listened on as it is, any other name on all interfaces. */
	private static InetSocketAddress listenAddress(ReplicaAddress address) {
		return address.isLoopback() ? new InetSocketAddress(address.host(), address.port())
				: new InetSocketAddress(address.port());
	}

	/** An empty name is none, as for the properties. */
	static final class HasPeers implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return StringUtils.hasText(context.getEnvironment().getProperty("kvorum.cluster.self"));
		}

	}

}
