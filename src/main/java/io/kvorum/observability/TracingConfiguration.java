package io.kvorum.observability;

import io.kvorum.api.RequestTraces;
import io.kvorum.replication.LocalReplica;
import io.opentelemetry.api.OpenTelemetry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/**
 * Configures traces of operations. Without them no class of OpenTelemetry is loaded: see
 * {@link TracingAutoConfigurations}.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(TracingAutoConfigurations.Enabled.class)
class TracingConfiguration {

	@Bean
	RequestTraces requestTraces(OpenTelemetry telemetry, LocalReplica local) {
		return new SpanTraces(telemetry, local.member().address());
	}

}
