package io.kvorum.app;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.kvorum.app.KvorumProperties.Cluster;
import io.kvorum.app.KvorumProperties.Replication;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.ClusterNode;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.ReplicaAddress;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.ConvergenceStatus;
import io.kvorum.convergence.antientropy.AntiEntropy;
import io.kvorum.convergence.antientropy.PromiseRepair;
import io.kvorum.convergence.antientropy.RepairEvents;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.antientropy.RepairSettings;
import io.kvorum.convergence.antientropy.Responder;
import io.kvorum.convergence.change.Changeover;
import io.kvorum.convergence.change.LayoutEvents;
import io.kvorum.convergence.hints.HintEvents;
import io.kvorum.convergence.hints.HintSettings;
import io.kvorum.convergence.hints.HintedHandoff;
import io.kvorum.convergence.quarantine.NodeState;
import io.kvorum.convergence.quarantine.Quarantine;
import io.kvorum.convergence.quarantine.QuarantineSettings;
import io.kvorum.convergence.quarantine.SystemBoot;
import io.kvorum.convergence.tombstones.CollectedTombstones;
import io.kvorum.convergence.tombstones.CollectionRule;
import io.kvorum.coordination.Coordinator;
import io.kvorum.coordination.Inspection;
import io.kvorum.layout.LayoutAdmin;
import io.kvorum.layout.LeavingTime;
import io.kvorum.range.Ranges;
import io.kvorum.replication.KeySettling;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.Replica;
import io.kvorum.replication.VotingRight;
import io.kvorum.storage.Durability;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.rocksdb.RocksStorage;
import io.kvorum.transport.OwnReport;
import io.kvorum.transport.PeerReports;
import io.kvorum.transport.PeerStatus;
import io.kvorum.transport.PlainAnswers;
import io.kvorum.transport.ReplicaTransport;
import io.kvorum.transport.TransportEvents;
import io.kvorum.transport.TransportSettings;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
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
import reactor.core.publisher.Mono;

/**
 * Configures the parts that only a node with peers has: the replica port, hinted handoff,
 * anti-entropy and quarantine. {@link AloneConfiguration} has the counterparts for a node
 * without peers.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "rocksdb", matchIfMissing = true)
@Conditional(PeersConfiguration.HasPeers.class)
class PeersConfiguration {

	/**
	 * Largest allowed kvorum.api.max-value-size. An entry that another node accepts, or
	 * once accepted, must not end a stream here.
	 */
	private static final int MAX_ENTRY_BYTES = 64 << 20;

	/** Time that a starting node waits for peers that are silent or open no streams. */
	private static final Duration PEERS_TIMEOUT = Duration.ofSeconds(5);

	/** Time limit of a peer's answer to a query of a repair. */
	private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(10);

	private static final Duration MEETING_TIMEOUT = Duration.ofSeconds(1);

	private static final Duration MEETING_INTERVAL = Duration.ofSeconds(5);

	/** Others try a node that is away at least once a second, and tell it then. */
	private static final Duration FOUNDING_TIME = Duration.ofSeconds(3);

	private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

	private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

	/**
	 * Time that a starting node waits for its voting right. A new cluster votes by then
	 * if all of its nodes are there. A node that must be rebuilt becomes ready without
	 * its voting right, and serves entries of the others.
	 */
	private static final Duration VOTING_TIMEOUT = Duration.ofSeconds(2);

	@Bean
	KnownLayout knownLayout(Member self) {
		return new KnownLayout(self.address());
	}

	/**
	 * The replica of this node until it takes a layout, for which it gets another one.
	 */
	@Bean
	LocalReplica localReplica(Member self, StorageEngine storage, HybridLogicalClock clock, TimeSource time,
			NodeState state, CollectedTombstones collected) {
		return new LocalReplica(self, storage, clock, time, state, state, collected::contains);
	}

	@Bean
	ReplicaTransport replicaTransport(Topology topology, ObjectProvider<LiveLayout> live, KnownLayout known,
			ObjectProvider<OwnReport> report, LocalReplica local, KvorumProperties properties,
			ReactorResourceFactory resources, WebClient.Builder clients, EventLoopCallers callers, TimeSource time,
			SslBundles bundles, TransportEvents events) {
		Cluster cluster = properties.cluster();
		return new ReplicaTransport(listenAddress(ReplicaAddress.parse(local.member().address())), topology,
				(number, topologies) -> live.getObject().accepts(number, topologies), local, answers(known, report),
				new TransportSettings(cluster.secret(), ReplicaCertificate.reloading(cluster, bundles),
						cluster.connectTimeout(), cluster.silenceTimeout(), cluster.probeInterval(), PEERS_TIMEOUT,
						cluster.maxInFlight(), MAX_ENTRY_BYTES),
				resources.getLoopResources(), clients, callers::learn, callers, time, new SecureRandom()::nextLong,
				events);
	}

	private static PlainAnswers answers(KnownLayout known, ObjectProvider<OwnReport> report) {
		return new PlainAnswers() {

			@Override
			public String exchangeLayouts(String theirs) {
				return known.exchange(theirs);
			}

			@Override
			public Mono<String> report() {
				return report.getObject().toJson();
			}

		};
	}

	@Bean
	PeerReports peerReports(ReplicaTransport transport) {
		return transport::report;
	}

	/** The address to listen on: a loopback address, or else all interfaces. */
	private static InetSocketAddress listenAddress(ReplicaAddress address) {
		return address.isLoopback() ? new InetSocketAddress(address.host(), address.port())
				: new InetSocketAddress(address.port());
	}

	@Bean
	Supplier<List<PeerStatus>> peerStatuses(ReplicaTransport transport) {
		return transport::peers;
	}

	@Bean
	AllReplicas allReplicas(ReplicaTransport transport) {
		return new AllReplicas(transport.replicas());
	}

	@Bean
	NodeState nodeState(Topology topology, Member self, RendezvousPlacement placement, RocksStorage storage,
			TimeSource time, KvorumProperties properties, RepairLog log) {
		NodeState state = new NodeState(topology, self, storage,
				new Responder(storage, storage, placement, topology, self), time, properties.withinGrace(),
				boot(properties));
		state.whenRestarted(log::needAll);
		return state;
	}

	private static SystemBoot boot(KvorumProperties properties) {
		return new SystemBoot(bootId(), properties.storage().durability() == Durability.OS);
	}

	/** The id that Linux gives each run of the system; empty on other systems. */
	private static String bootId() {
		try {
			return Files.readString(BOOT_ID).strip();
		}
		catch (IOException _) {
			return "";
		}
	}

	@Bean
	Handoffs handoffs() {
		return new Handoffs();
	}

	static List<Replica> othersOf(List<Replica> replicas, Member self) {
		return replicas.stream().filter(replica -> !replica.member().equals(self)).toList();
	}

	/** Makes the parts of a node that are of one layout. */
	@Bean
	LayoutParts.Factory layoutParts(RocksStorage storage, ReplicaTransport transport, NodeState state, RepairLog log,
			KnownLayout known, CollectionRule rule, KvorumProperties properties, TimeSource time,
			ConvergenceThread thread, KeySettling settling, HintEvents hintEvents, RepairEvents repairEvents) {
		KvorumProperties.Hints hints = properties.hints();
		HintSettings hintSettings = new HintSettings(properties.hintsWindow(), hints.maxSize().toBytes(),
				hints.replayInterval(), hints.maxRate().toBytes(), properties.replication().writeTimeout());
		RepairSettings repairs = repairSettings(properties);
		KvorumProperties.Replication replication = properties.replication();
		// A read writes back as long as it lasts.
		Duration underWay = Collections.max(List.of(replication.readTimeout(), replication.writeTimeout()));
		QuarantineSettings quarantine = new QuarantineSettings(underWay, MEETING_TIMEOUT, MEETING_INTERVAL,
				FOUNDING_TIME, properties.cluster().acceptLoss());
		return (layout, self, placement, change, local, replicas) -> {
			List<Replica> others = othersOf(replicas, self);
			HintedHandoff handoff = new HintedHandoff(storage, others, replicas.size(), hintSettings, log::need, state,
					time, thread.alarms(), hintEvents);
			AntiEntropy antiEntropy = new AntiEntropy(local, replicas, storage, placement, log, rule::isDispensable,
					unlessPaused(state, known, layout), time, thread.alarms(), repairs, settling, repairEvents);
			PromiseRepair promises = new PromiseRepair(local, replicas, storage, placement, settling, time, repairs);
			return new LayoutParts(layout, self, placement, change, local, replicas, handoff, antiEntropy,
					new Quarantine(state, others, antiEntropy::rebuild, promises, handoff::giveUpAll, time,
							thread.alarms(), quarantine),
					new Changeover(layout, self, change, others, antiEntropy, promises, state::isMember,
							state::isToBeRebuilt, transport::endOthers, Changeover.PATIENCE, time, thread.alarms()));
		};
	}

	/** The right to compare this node with others and to copy what differs. */
	private static VotingRight unlessPaused(NodeState state, KnownLayout known, Layout layout) {
		return () -> {
			String why = state.withheldBecause();
			return (why != null) ? why : known.pausedBecause(layout.number());
		};
	}

	private static RepairSettings repairSettings(KvorumProperties properties) {
		KvorumProperties.AntiEntropy antiEntropy = properties.antiEntropy();
		return new RepairSettings(antiEntropy.interval(), antiEntropy.concurrency(), antiEntropy.maxRate().toBytes(),
				ANSWER_TIMEOUT, properties.replication().writeTimeout(), RETRY_DELAY);
	}

	@Bean
	LiveLayout liveLayout(KnownLayout known, Topology topology, RendezvousPlacement placement, Member self,
			RocksStorage storage, NodeState state, RepairLog log, ReplicaTransport transport, Coordinator coordinator,
			Ranges ranges, Inspection inspection, LayoutParts.Factory factory, Handoffs handoffs,
			ObjectProvider<LayoutEvents> events, HybridLogicalClock clock, TimeSource time,
			CollectedTombstones collected, ConvergenceThread thread, KvorumProperties properties) {
		Cluster cluster = properties.cluster();
		Replication replication = properties.replication();
		Duration longest = Collections
			.max(List.of(replication.readTimeout(), replication.writeTimeout(), properties.range().pageTimeout()));
		return new LiveLayout(self.address(), cluster.isFounder() ? topology : null,
				cluster.nodes().stream().map(node -> ClusterNode.parse(node).address().toString()).toList(),
				cluster.joining(), known, storage, state, log, transport,
				new LiveLayout.Operations(coordinator, ranges, inspection, longest),
				(own, change, isAlone) -> new LocalReplica(own, storage, clock, time, state, change.orElse(state),
						collected::contains, isAlone),
				factory,
				next -> (next.fingerprint() == topology.fingerprint()) ? placement : new RendezvousPlacement(next),
				handoffs, (next, own) -> events.forEach(event -> event.became(next, own)), time, thread,
				properties.antiEntropy().maxRate().toBytes(), new LeavingTime(properties.gcGrace(), time));
	}

	@Bean
	LayoutAdmin layoutAdmin(LiveLayout live) {
		return live.admin();
	}

	@Bean
	Convergence convergence(LiveLayout live, RepairLog log, ReplicaTransport transport) {
		return new Convergence(log::others, () -> {
			LayoutParts parts = live.parts();
			return (parts == null) ? ConvergenceStatus.WAITING : ConvergenceStatus.of(parts.quarantine(),
					parts.antiEntropy(), log, parts.handoff(), transport.there(), transport.reachedBy());
		}, live::change, () -> {
			LayoutParts parts = live.parts();
			if (parts != null) {
				parts.antiEntropy().request();
			}
		});
	}

	@Bean
	BackgroundWork convergenceWork(LiveLayout live) {
		return new BackgroundWork(BackgroundWork.REPLICA_PORT_OPEN, List.of(live.run()), () -> {
			try {
				var _ = live.votingRight().await(VOTING_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException _) {
				Thread.currentThread().interrupt();
			}
		});
	}

	/** Whether this node has an address in a cluster; an empty one counts as none. */
	static boolean hasPeers(ConditionContext context) {
		return StringUtils.hasText(context.getEnvironment().getProperty("kvorum.cluster.self"));
	}

	static final class HasPeers implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return hasPeers(context);
		}

	}

}
