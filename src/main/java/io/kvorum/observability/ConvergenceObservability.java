package io.kvorum.observability;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.Joining;
import io.kvorum.replication.LocalReplica;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Configures meters, health and endpoint of convergence. */
@Configuration(proxyBeanMethods = false)
class ConvergenceObservability {

	@Bean
	ConvergenceMeters convergenceMeters(MeterRegistry registry, Topology topology, LocalReplica local) {
		return new ConvergenceMeters(registry, topology, local.member());
	}

	@Bean
	MeterBinder convergenceGauges(Convergence convergence, TimeSource time) {
		return new ConvergenceGauges(convergence, time);
	}

	@Bean
	ReactiveHealthIndicator convergenceHealthIndicator(Convergence convergence, TimeSource time) {
		return new ConvergenceHealth(convergence, new Joining(time), time);
	}

	@Bean
	ConvergenceEndpoint convergenceEndpoint(Convergence convergence) {
		return new ConvergenceEndpoint(convergence);
	}

}
