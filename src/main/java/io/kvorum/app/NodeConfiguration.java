package io.kvorum.app;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.function.Supplier;

import io.kvorum.api.ApiSettings;
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
import io.kvorum.storage.ExpiryHorizon;
import io.kvorum.storage.StorageEvents;
import io.kvorum.storage.rocksdb.RocksSchedulers;
import io.kvorum.storage.rocksdb.RocksSettings;
import io.kvorum.storage.rocksdb.RocksStorage;
import io.kvorum.wire.Drain;
import io.kvorum.wire.HttpPort;
import io.kvorum.wire.WireEvents;
import io.kvorum.wire.WireLimits;
import io.kvorum.wire.WireRoute;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import org.jspecify.annotations.Nullable;
import reactor.core.observability.micrometer.Micrometer;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.info.BuildProperties;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.http.client.ReactorResourceFactory;

/** Configures the parts that every node has. */
@Configuration(proxyBeanMethods = false)
class NodeConfiguration {

	private static final int IDLE_READ_THREAD_SECONDS = 60;

	@Bean
	TimeSource timeSource() {
		return TimeSource.SYSTEM;
	}

	@Bean
	HybridLogicalClock clock(TimeSource time) {
		return new HybridLogicalClock(time);
	}

	@Bean
	EventLoopCallers eventLoopCallers() {
		return new EventLoopCallers();
	}

	/**
	 * Uses Netty's pooled allocator for connections. Netty's default, the adaptive one,
	 * makes a GET about a tenth more expensive: see src/docs/performance.md.
	 */
	@Bean
	NettyServerCustomizer pooledBuffers() {
		return server -> server.childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT);
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
				storage.collectInterval(), ExpiryHorizon.MARGIN, !properties.cluster().isAlone(), replication.factor());
	}

	@Bean
	StorageLifecycle storageLifecycle(RocksStorage storage, HybridLogicalClock clock, TimeSource time, Restore restore,
			RepairLog repairs, @Nullable NodeState state, @Nullable LiveLayout live, KvorumProperties properties) {
		return new StorageLifecycle(storage, clock, time, restore, repairs, state, live,
				properties.cluster().acceptAddress());
	}

	/**
	 * The port without route and drain. Each server gets it, that of a management port
	 * too.
	 */
	@Bean
	HttpPort httpPort(KvorumProperties properties, WireEvents events) {
		KvorumProperties.Api api = properties.api();
		WireLimits defaults = WireLimits.defaults();
		return new HttpPort(new WireLimits(api.maxConnections(), defaults.maxInitialLineLength(),
				defaults.maxHeaderSize(), defaults.maxPipelinedSize(), defaults.maxLingerSize(), api.idleTimeout(),
				api.headerTimeout(), api.bodyStallTimeout(), api.bodyTimeout(), api.writeStallTimeout(),
				properties.range().stallTimeout(), defaults.lingerTimeout()), events);
	}

	@Bean
	Drain drain(KvorumProperties properties) {
		return new Drain(properties.api().drainTime());
	}

	/**
	 * Adds the route of entities and the drain to the API port. A management port has no
	 * drain: it still reports that the node is not ready.
	 */
	@Bean
	WebServerFactoryCustomizer<NettyReactiveWebServerFactory> apiPort(HttpPort plain, WireRoute entities, Drain drain) {
		return factory -> {
			factory.getServerCustomizers().remove(plain);
			factory.addServerCustomizers(plain.with(entities, drain));
		};
	}

	@Bean
	ApiSettings apiSettings(KvorumProperties properties) {
		KvorumProperties.Api api = properties.api();
		return new ApiSettings((int) api.maxValueSize().toBytes(), api.maxInFlightSize().toBytes(),
				properties.range().stallTimeout(), api.slowRequestTime());
	}

	@Bean
	Supplier<NodeStatus> nodeStatus(RocksStorage storage, Supplier<Layout> layout, @Nullable LiveLayout live,
			@Nullable BuildProperties build) {
		return () -> {
			Layout now = layout.get();
			CopyProgress copying = (live != null) ? live.copying() : null;
			return new NodeStatus(HexFormat.of().toHexDigits(storage.identity()), version(build),
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
		Layout founding = Layout.founding(topology);
		return () -> {
			Layout now = (live != null) ? live.layout() : null;
			return (now != null) ? now : founding;
		};
	}

	/** The version of the jar; "unknown" in a build by an IDE. */
	static String version(@Nullable BuildProperties build) {
		return (build != null) ? String.valueOf(build.getVersion()) : "unknown";
	}

	@Bean
	StartReport startReport(KvorumProperties properties, Supplier<Layout> layout, ServerProperties server,
			Environment environment, ReactorResourceFactory resources) {
		return new StartReport(properties, layout, Ssl.isEnabled(server.getSsl()), environment,
				resources.getLoopResources());
	}

}
