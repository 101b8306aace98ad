package io.kvorum.observability;

import java.util.List;
import java.util.function.Supplier;

import io.kvorum.backup.BackupService;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.convergence.Convergence;
import io.kvorum.coordination.Coordinator;
import io.kvorum.coordination.Inspection;
import io.kvorum.layout.LayoutAdmin;
import io.kvorum.layout.LayoutNode;
import io.kvorum.replication.LocalReplica;
import io.kvorum.storage.EngineMeasures;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.StorageEngine;
import io.kvorum.transport.PeerStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

/** Configures meters, health and endpoints of a node with a store of its own. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "rocksdb", matchIfMissing = true)
class NodeObservability {

	@Bean
	StorageMeters storageMeters(MeterRegistry registry) {
		return new StorageMeters(registry);
	}

	@Bean
	MeterBinder rememberedRequests(Coordinator coordinator) {
		return registry -> Gauge.builder("kvorum.idempotency.records", coordinator, Coordinator::rememberedRequests)
			.description(
					"New writes with an Idempotency-Key that this node has taken within kvorum.idempotency.retention")
			.register(registry);
	}

	@Bean
	RangeMeters rangeMeters(MeterRegistry registry) {
		return new RangeMeters(registry);
	}

	@Bean
	ClockRefusals clockRefusals(TimeSource time) {
		return new ClockRefusals(time);
	}

	@Bean
	TransportMeters transportMeters(MeterRegistry registry, ClockRefusals clockRefusals) {
		return new TransportMeters(registry, clockRefusals);
	}

	@Bean
	BackupMeters backupMeters(MeterRegistry registry, TimeSource time) {
		return new BackupMeters(registry, time);
	}

	@Bean
	MeterBinder backupConfiguredMeter(BackupService backups) {
		return BackupMeters.configured(backups.isConfigured());
	}

	@Bean
	BackupEndpoint backupEndpoint(BackupService backups) {
		return new BackupEndpoint(backups);
	}

	@Bean
	TopologyEndpoint topologyEndpoint(Supplier<Layout> layout, LocalReplica local, Supplier<List<PeerStatus>> peers,
			Inspection inspection, Convergence convergence) {
		return new TopologyEndpoint(layout, local.member(), peers, inspection, convergence);
	}

	@Bean
	ReactiveHealthIndicator clusterHealthIndicator(Supplier<List<PeerStatus>> peers, @Nullable LayoutNode node) {
		return new ClusterHealth(peers, node);
	}

	@Bean
	MeterBinder layoutGauges(@Nullable LayoutNode node) {
		return (node != null) ? new LayoutGauges(node) : _ -> {
		};
	}

	@Bean
	LayoutEndpoint layoutEndpoint(@Nullable LayoutNode node, @Nullable LayoutAdmin admin, JsonMapper json) {
		return new LayoutEndpoint(node, admin, json);
	}

	@Bean
	ReactiveHealthIndicator clockHealthIndicator(HybridLogicalClock clock, ClockRefusals refusals,
			Supplier<Layout> layout) {
		return new ClockHealth(clock, refusals, () -> layout.get().topology().size() > 1);
	}

	@Bean
	MeterBinder nodeMeters(EngineMeasures engine, HybridLogicalClock clock) {
		return new NodeMeters(engine, clock);
	}

	@Bean
	ReactiveHealthIndicator storageHealthIndicator(StorageEngine storage, PartitionIndex index) {
		return new StorageHealth(storage, index);
	}

}
