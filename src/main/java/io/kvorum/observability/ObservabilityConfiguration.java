package io.kvorum.observability;

import java.nio.file.Path;

import io.kvorum.access.AccessControl;
import io.kvorum.clock.TimeSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.observation.ObservationPredicate;
import io.netty.buffer.PooledByteBufAllocator;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.server.reactive.observation.ServerRequestObservationContext;
import tools.jackson.databind.JacksonModule;

/** Configures meters and health of all that does not depend on the store. */
@Configuration(proxyBeanMethods = false)
class ObservabilityConfiguration {

	@Bean
	RequestMeters requestMeters(MeterRegistry registry) {
		return new RequestMeters(registry);
	}

	@Bean
	RequestRate requestRate(RequestMeters meters, TimeSource time) {
		return new RequestRate(meters, time);
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
	JacksonModule nestedJson() {
		return NestedJson.module();
	}

	@Bean
	MeterBinder memoryMeters() {
		return new MemoryMeters(Path.of("/proc/self/status"));
	}

	@Bean
	MeterBinder nettyAllocatorMeters() {
		return new NettyAllocatorMetrics(PooledByteBufAllocator.DEFAULT);
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
