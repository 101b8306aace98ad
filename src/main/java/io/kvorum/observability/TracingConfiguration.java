package io.kvorum.observability;

import io.kvorum.api.RequestTraces;
import io.kvorum.replication.LocalReplica;
import io.opentelemetry.api.OpenTelemetry;
import org.jspecify.annotations.Nullable;
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

	/** What spans of a gateway have in the place of a replica address. */
	private static final String GATEWAY = "gateway";

	@Bean
	RequestTraces requestTraces(OpenTelemetry telemetry, @Nullable LocalReplica local) {
		return new SpanTraces(telemetry, (local != null) ? local.member().address() : GATEWAY);
	}

}
