package io.kvorum.observability;

import java.util.List;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.antientropy.AntiEntropy;
import io.kvorum.replication.antientropy.RepairLog;
import io.kvorum.replication.handoff.Handoff;
import io.kvorum.replication.rejoin.Rejoin;
import io.kvorum.transport.ReplicaTransport;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Puts together what tells how far a node has converged with its peers. */
@Configuration(proxyBeanMethods = false)
class ConvergenceObservability {

	@Bean
	ConvergenceMeters convergenceMeters(MeterRegistry registry, Topology topology, LocalReplica local) {
		return new ConvergenceMeters(registry, topology, local.member());
	}

	@Bean
	ConvergenceSource convergenceSource(Topology topology, LocalReplica local,
			ObjectProvider<ReplicaTransport> transport, ObjectProvider<Rejoin> rejoin,
			ObjectProvider<AntiEntropy> antiEntropy, ObjectProvider<RepairLog> log, ObjectProvider<Handoff> handoff) {
		AntiEntropy ofPeers = antiEntropy.getIfAvailable();
		if (ofPeers == null) {
			return new AloneConvergence();
		}
		List<Member> peers = topology.members().stream().filter(member -> !member.equals(local.member())).toList();
		ReplicaTransport replicas = transport.getObject();
		return new ClusterConvergence(peers, replicas::peers, replicas::reachedBy, rejoin.getObject(), ofPeers,
				log.getObject(), handoff.getObject());
	}

	@Bean
	Converged converged(ConvergenceSource source) {
		return new Converged(source);
	}

	@Bean
	MeterBinder convergenceGauges(ConvergenceSource source, TimeSource time) {
		return new ConvergenceGauges(source, time);
	}

	@Bean
	ReactiveHealthIndicator convergenceHealthIndicator(ConvergenceSource source, TimeSource time) {
		return new ConvergenceHealth(source, new Joining(time), time);
	}

	@Bean
	ConvergenceEndpoint convergenceEndpoint(ConvergenceSource source) {
		return new ConvergenceEndpoint(source);
	}

}
