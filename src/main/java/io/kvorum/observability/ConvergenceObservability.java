package io.kvorum.observability;

import io.kvorum.clock.TimeSource;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.Joining;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Configures meters, health and endpoint of convergence. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "rocksdb", matchIfMissing = true)
class ConvergenceObservability {

	@Bean
	ConvergenceMeters convergenceMeters(MeterRegistry registry) {
		return new ConvergenceMeters(registry);
	}

	@Bean
	ConvergenceGauges convergenceGauges(Convergence convergence, TimeSource time) {
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
