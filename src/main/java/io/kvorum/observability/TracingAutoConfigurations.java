package io.kvorum.observability;

import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Filter of Spring Boot's tracing, which OpenTelemetry on the class path would switch on.
 * If tracing is enabled, three auto-configurations are used: the SDK, spans and their
 * export. The others would trace each scrape, each health check and the streams between
 * nodes. They would also put any client's paths into spans and look up the current span
 * at each meter.
 */
final class TracingAutoConfigurations implements AutoConfigurationImportFilter, EnvironmentAware {

	private static final String ENABLED = "kvorum.tracing.enabled";

	private static final String OPENTELEMETRY = "org.springframework.boot.opentelemetry.autoconfigure.";

	private static final String TRACING = "org.springframework.boot.micrometer.tracing.";

	private static final Set<String> USED = Set.of(OPENTELEMETRY + "OpenTelemetrySdkAutoConfiguration",
			TRACING + "opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration",
			TRACING + "opentelemetry.autoconfigure.otlp.OtlpTracingAutoConfiguration");

	private Environment environment = new StandardEnvironment();

	@Override
	public void setEnvironment(Environment environment) {
		this.environment = environment;
	}

	@Override
	public boolean[] match(@Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
		boolean enabled = isEnabled(this.environment);
		boolean[] matches = new boolean[autoConfigurations.length];
		for (int i = 0; i < matches.length; i++) {
			String name = autoConfigurations[i];
			// Null marks an auto-configuration that another filter has left out.
			matches[i] = name == null || !isAboutTracing(name) || (enabled && USED.contains(name));
		}
		return matches;
	}

	/** Whether tracing is enabled; a value that is no boolean is reported later. */
	private static boolean isEnabled(Environment environment) {
		try {
			return environment.getProperty(ENABLED, Boolean.class, false);
		}
		catch (ConversionException _) {
			return false;
		}
	}

	/**
	 * Whether this is an auto-configuration for tracing. The filter also gets nested
	 * classes, whose names end otherwise.
	 */
	private static boolean isAboutTracing(String name) {
		return (name.startsWith(OPENTELEMETRY) || name.startsWith(TRACING)) && name.endsWith("AutoConfiguration");
	}

	/** Matches if tracing is enabled. */
	static final class Enabled implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return isEnabled(context.getEnvironment());
		}

	}

}
