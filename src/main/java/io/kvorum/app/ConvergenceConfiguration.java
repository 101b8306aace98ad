package io.kvorum.app;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.app.ClusterConfiguration.HasPeers;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.Replica;
import io.kvorum.replication.antientropy.AntiEntropy;
import io.kvorum.replication.antientropy.CollectionEvents;
import io.kvorum.replication.antientropy.CollectionRule;
import io.kvorum.replication.antientropy.RepairEvents;
import io.kvorum.replication.antientropy.RepairLog;
import io.kvorum.replication.antientropy.RepairSettings;
import io.kvorum.replication.antientropy.Responder;
import io.kvorum.replication.antientropy.TombstoneCollector;
import io.kvorum.replication.handoff.Handoff;
import io.kvorum.replication.handoff.HandoffEvents;
import io.kvorum.replication.handoff.HandoffSettings;
import io.kvorum.replication.rejoin.Boot;
import io.kvorum.replication.rejoin.Rejoin;
import io.kvorum.replication.rejoin.RejoinSettings;
import io.kvorum.replication.rejoin.Roster;
import io.kvorum.storage.Durability;
import io.kvorum.storage.rocksdb.RocksStorage;
import io.kvorum.transport.ReplicaTransport;
import org.reactivestreams.Publisher;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Puts together what makes a node equal to the others. */
@Configuration(proxyBeanMethods = false)
class ConvergenceConfiguration {

	/** How long another node may take to answer what it is asked. */
	private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(10);

	private static final Duration MEETING_TIMEOUT = Duration.ofSeconds(1);

	private static final Duration MEETING_INTERVAL = Duration.ofSeconds(5);

	private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

	@Bean
	ConvergenceThread convergenceThread(EventLoopCallers callers) {
		return new ConvergenceThread(callers);
	}

	@Bean
	RepairLog repairLog(Topology topology, Member self, RocksStorage storage) {
		return new RepairLog(topology, self, storage);
	}

	@Bean
	CollectionRule collectionRule(RepairLog log, RocksStorage storage, ObjectProvider<Handoff> handoff,
			KvorumProperties properties, TimeSource time) {
		return new CollectionRule(log, storage.keyHash(),
				() -> handoff.stream().mapToLong(Handoff::oldestMillis).min().orElse(Long.MAX_VALUE),
				properties.gcGrace(), time);
	}

	@Bean
	TombstoneCollector tombstoneCollector(RocksStorage storage, CollectionRule rule, TimeSource time,
			ConvergenceThread thread, KvorumProperties properties, CollectionEvents events) {
		return new TombstoneCollector(storage, rule, time, thread.alarms(), properties.storage().collectInterval(),
				events);
	}

	@Bean
	@Conditional(HasPeers.class)
	Roster roster(Topology topology, Member self, RendezvousPlacement placement, RocksStorage storage, TimeSource time,
			KvorumProperties properties, RepairLog log) {
		Roster roster = new Roster(topology, self, storage, new Responder(storage, placement, topology, self), time,
				properties.withinGrace(), boot(properties));
		roster.whenRestarted(log::needAll);
		return roster;
	}

	private static Boot boot(KvorumProperties properties) {
		return new Boot(BootId.read(), properties.storage().durability() == Durability.OS);
	}

	@Bean
	@Conditional(HasPeers.class)
	Handoff handoff(RocksStorage storage, ReplicaTransport transport, Member self, RepairLog log,
			KvorumProperties properties, TimeSource time, ConvergenceThread thread, HandoffEvents events) {
		KvorumProperties.Hints hints = properties.hints();
		Duration window = hints.window().compareTo(properties.withinGrace()) < 0 ? hints.window()
				: properties.withinGrace();
		return new Handoff(storage, othersOf(transport, self), transport.replicas().size(),
				new HandoffSettings(window, hints.maxSize().toBytes(), hints.replayInterval(),
						hints.maxRate().toBytes(), properties.replication().writeTimeout()),
				log::need, time, thread.alarms(), events);
	}

	private static List<Replica> othersOf(ReplicaTransport transport, Member self) {
		return transport.replicas().stream().filter(replica -> !replica.member().equals(self)).toList();
	}

	@Bean
	@Conditional(HasPeers.class)
	AntiEntropy antiEntropy(LocalReplica local, ReplicaTransport transport, RocksStorage storage,
			RendezvousPlacement placement, RepairLog log, CollectionRule rule, Roster roster, TimeSource time,
			ConvergenceThread thread, KvorumProperties properties, RepairEvents events) {
		KvorumProperties.AntiEntropy antiEntropy = properties.antiEntropy();
		return new AntiEntropy(local, transport.replicas(), storage, placement, log, rule::isOldTombstone, roster, time,
				thread.alarms(),
				new RepairSettings(antiEntropy.interval(), antiEntropy.concurrency(), antiEntropy.maxRate().toBytes(),
						ANSWER_TIMEOUT, properties.replication().writeTimeout(), RETRY_DELAY),
				events);
	}

	@Bean
	@Conditional(HasPeers.class)
	Rejoin rejoin(Roster roster, ReplicaTransport transport, Member self, AntiEntropy antiEntropy, TimeSource time,
			ConvergenceThread thread, KvorumProperties properties) {
		return new Rejoin(roster, othersOf(transport, self), antiEntropy::rebuild, time, thread.alarms(),
				new RejoinSettings(properties.replication().writeTimeout(), MEETING_TIMEOUT, MEETING_INTERVAL,
						properties.cluster().acceptLoss()));
	}

	@Bean
	Convergence convergence(RepairLog log, ObjectProvider<Rejoin> rejoin, ObjectProvider<AntiEntropy> antiEntropy,
			ObjectProvider<Handoff> handoff, TombstoneCollector collector, ConvergenceThread thread) {
		List<Publisher<?>> works = new ArrayList<>();
		rejoin.ifAvailable(found -> works.add(found.run()));
		antiEntropy.ifAvailable(found -> works.add(found.run()));
		handoff.ifAvailable(found -> works.add(found.run()));
		works.add(collector.run());
		return new Convergence(log, rejoin.getIfAvailable(), works, thread);
	}

}
