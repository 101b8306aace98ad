package io.kvorum.app;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.function.Supplier;

import io.kvorum.api.NodeStatus;
import io.kvorum.app.KvorumProperties.Range;
import io.kvorum.app.KvorumProperties.Replication;
import io.kvorum.app.KvorumProperties.Storage;
import io.kvorum.backup.Restore;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.change.CopyProgress;
import io.kvorum.convergence.quarantine.NodeState;
import io.kvorum.layout.LayoutNode;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.rocksdb.RocksSchedulers;
import io.kvorum.storage.rocksdb.RocksSettings;
import io.kvorum.storage.rocksdb.RocksStorage;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.info.BuildProperties;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.core.observability.micrometer.Micrometer;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Configures the store of a node, and what a node has beside it. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "rocksdb", matchIfMissing = true)
class NodeConfiguration {

	private static final int IDLE_READ_THREAD_SECONDS = 60;

	@Bean
	HybridLogicalClock clock(TimeSource time) {
		return new HybridLogicalClock(time);
	}

	@Bean
	StorageFailure storageFailure(ApplicationContext context) {
		return new StorageFailure(context);
	}

	@Bean
	LimitMeters limitMeters(KvorumProperties properties) {
		return new LimitMeters(properties);
	}

	/** Threads for reads that memory cannot answer, with a limited queue and meters. */
	@Bean(destroyMethod = "dispose")
	Scheduler storageScheduler(KvorumProperties properties, MeterRegistry meters) {
		Storage storage = properties.storage();
		return Micrometer.timedScheduler(Schedulers.newBoundedElastic(storage.readThreads(), storage.readQueueLength(),
				"kvorum-storage", IDLE_READ_THREAD_SECONDS, true), meters, "kvorum.storage.reads");
	}

	/** Threads for pages of ranges, so that other reads do not wait for them. */
	@Bean(destroyMethod = "dispose")
	Scheduler rangeScheduler(KvorumProperties properties, MeterRegistry meters) {
		Range range = properties.range();
		return Micrometer.timedScheduler(Schedulers.newBoundedElastic(range.threads(), range.queueLength(),
				"kvorum-range", IDLE_READ_THREAD_SECONDS, true), meters, "kvorum.storage.pages");
	}

	/** Threads for reads of repairs, so that no client's read waits for them. */
	@Bean(destroyMethod = "dispose")
	Scheduler repairScheduler(MeterRegistry meters) {
		return Micrometer.timedScheduler(Schedulers.newBoundedElastic(RocksSchedulers.REPAIR_THREADS,
				RocksSchedulers.REPAIR_QUEUE_LENGTH, "kvorum-repair", IDLE_READ_THREAD_SECONDS, true), meters,
				"kvorum.storage.repairs");
	}

	@Bean(destroyMethod = "")
	RocksStorage storage(KvorumProperties properties, TimeSource time, @Qualifier("storageScheduler") Scheduler reads,
			@Qualifier("rangeScheduler") Scheduler ranges, @Qualifier("repairScheduler") Scheduler repairs,
			EventLoopCallers callers, StorageEvents events, StorageFailure failure) {
		return new RocksStorage(settings(properties), time, RendezvousPlacement::hashOf, new SecureRandom()::nextLong,
				new RocksSchedulers(reads, ranges, repairs), callers, events, failure::exit);
	}

	private static RocksSettings settings(KvorumProperties properties) {
		Storage storage = properties.storage();
		Replication replication = properties.replication();
		return new RocksSettings(storage.path(), storage.durability(), storage.cacheSize().toBytes(),
				storage.memtables().toBytes(), storage.rowCacheSize().toBytes(), storage.maxOpenFiles(),
				storage.minFreeSpace().toBytes(), storage.readThreads(), storage.readQueueLength(),
				properties.range().queueLength(), storage.writeQueueLength(), storage.writeQueueSize().toBytes(),
				storage.writeQueueTime(), replication.readTimeout(), replication.writeTimeout(),
				storage.collectInterval(), properties.expiryMargin(), !properties.cluster().isAlone(),
				replication.factor());
	}

	@Bean
	StorageLifecycle storageLifecycle(RocksStorage storage, HybridLogicalClock clock, TimeSource time, Restore restore,
			RepairLog repairs, @Nullable NodeState state, @Nullable LiveLayout live, KvorumProperties properties) {
		KvorumProperties.Cluster cluster = properties.cluster();
		return new StorageLifecycle(storage, clock, time, restore, repairs, state, live,
				(cluster.isAlone() || cluster.isFounder()) ? properties.topology() : null, cluster.acceptAddress(),
				cluster.acceptLoss());
	}

	@Bean
	Supplier<NodeStatus> nodeStatus(RocksStorage storage, Supplier<Layout> layout, @Nullable LiveLayout live,
			@Nullable BuildProperties build) {
		return () -> {
			Layout now = layout.get();
			CopyProgress copying = (live != null) ? live.copying() : null;
			return new NodeStatus(HexFormat.of().toHexDigits(storage.identity()), HttpConfiguration.version(build),
					new NodeStatus.Topology(now.number(), LayoutNode.stateOf(now, live),
							now.topology().members().stream().map(Member::address).toList(), now.topology().factor(),
							(copying != null) ? copying.describe() : null));
		};
	}

	/**
	 * The layout now; that of the configuration while this node belongs to no cluster.
	 */
	@Bean
	Supplier<Layout> layoutNow(Topology topology, @Nullable LiveLayout live) {
		Layout founding = new Layout(0, topology);
		return () -> {
			Layout now = (live != null) ? live.layout() : null;
			return (now != null) ? now : founding;
		};
	}

	@Bean
	StartReport startReport(KvorumProperties properties, Supplier<Layout> layout, ServerProperties server,
			Environment environment, ReactorResourceFactory resources) {
		return new StartReport(properties, layout, Ssl.isEnabled(server.getSsl()), environment,
				resources.getLoopResources());
	}

}
