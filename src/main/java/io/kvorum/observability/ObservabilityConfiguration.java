package io.kvorum.observability;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

import io.kvorum.access.AccessControl;
import io.kvorum.backup.BackupService;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.layout.LayoutAdmin;
import io.kvorum.layout.LayoutNode;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.json.JsonMapper;
import io.kvorum.convergence.Convergence;
import io.kvorum.coordination.Coordinator;
import io.kvorum.coordination.Inspection;
import io.kvorum.replication.LocalReplica;
import io.kvorum.storage.EngineMeasures;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.StorageEngine;
import io.kvorum.transport.PeerStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.observation.ObservationPredicate;
import io.netty.buffer.PooledByteBufAllocator;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.server.reactive.observation.ServerRequestObservationContext;

/** Configures meters, health and endpoints of a node. */
@Configuration(proxyBeanMethods = false)
class ObservabilityConfiguration {

	@Bean
	RequestMeters requestMeters(MeterRegistry registry) {
		return new RequestMeters(registry);
	}

	@Bean
	StorageMeters storageMeters(MeterRegistry registry) {
		return new StorageMeters(registry);
	}

	@Bean
	WireMeters wireMeters(MeterRegistry registry) {
		return new WireMeters(registry);
	}

	@Bean
	AccessMeters accessMeters(MeterRegistry registry) {
		return new AccessMeters(registry);
	}

	@Bean
	MeterBinder accessGauges(AccessControl control) {
		return new AccessGauges(control);
	}

	@Bean
	ReactiveHealthIndicator accessHealthIndicator(AccessControl control) {
		return new AccessHealth(control);
	}

	@Bean
	ReplicationMeters replicationMeters(MeterRegistry registry) {
		return new ReplicationMeters(registry);
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
	JacksonModule nestedJson() {
		return NestedJson.module();
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
	MeterBinder memoryMeters() {
		return new MemoryMeters(Path.of("/proc/self/status"));
	}

	@Bean
	MeterBinder nettyAllocatorMeters() {
		return new NettyAllocatorMetrics(PooledByteBufAllocator.DEFAULT);
	}

	@Bean
	ReactiveHealthIndicator storageHealthIndicator(StorageEngine storage, PartitionIndex index) {
		return new StorageHealth(storage, index);
	}

	/**
	 * Excludes requests for entities from Spring's observation, since
	 * {@link RequestMeters} times them.
	 */
	@Bean
	ObservationPredicate noObservationOfEntities() {
		return (name,
				context) -> !(context instanceof ServerRequestObservationContext request && request.getCarrier() != null
						&& RequestMeters.PATH.equals(request.getCarrier().getURI().getRawPath()));
	}

}
