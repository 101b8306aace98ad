package io.kvorum.app;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.util.unit.DataSize;

/**
 * Gauges of the limits in force. Alerts and dashboards compare measured values with them,
 * so they hold for every configuration.
 */
final class LimitMeters implements MeterBinder {

	private static final String PROPERTY = "property";

	private static final String DESCRIPTION = "The limit in force";

	private final KvorumProperties properties;

	LimitMeters(KvorumProperties properties) {
		this.properties = properties;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		time("kvorum.gc-grace", this.properties.gcGrace(), registry);
		time("kvorum.hints.window", this.properties.hintsWindow(), registry);
		size("kvorum.hints.max-size", this.properties.hints().maxSize(), registry);
		size("kvorum.storage.cache-size", this.properties.storage().cacheSize(), registry);
		size("kvorum.storage.min-free-space", this.properties.storage().minFreeSpace(), registry);
		size("kvorum.storage.write-queue-size", this.properties.storage().writeQueueSize(), registry);
		number("kvorum.storage.write-queue-length", this.properties.storage().writeQueueLength(), registry);
		number("kvorum.api.max-connections", this.properties.api().maxConnections(), registry);
		number("kvorum.idempotency.max-records", this.properties.idempotency().maxRecords(), registry);
		number("kvorum.range.max-concurrent", this.properties.range().maxConcurrent(), registry);
	}

	private static void time(String property, Duration limit, MeterRegistry registry) {
		TimeGauge.builder("kvorum.limit.time", limit::toMillis, TimeUnit.MILLISECONDS)
			.tag(PROPERTY, property)
			.description(DESCRIPTION)
			.register(registry);
	}

	private static void size(String property, DataSize limit, MeterRegistry registry) {
		Gauge.builder("kvorum.limit.size", limit::toBytes)
			.tag(PROPERTY, property)
			.description(DESCRIPTION)
			.baseUnit("bytes")
			.register(registry);
	}

	private static void number(String property, int limit, MeterRegistry registry) {
		Gauge.builder("kvorum.limit.number", () -> limit)
			.tag(PROPERTY, property)
			.description(DESCRIPTION)
			.register(registry);
	}

}
