package io.kvorum.observability;

import java.util.concurrent.TimeUnit;

import io.kvorum.access.AccessControl;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Gauges of the API keys in use, and of the time for which the keys file has been
 * unusable.
 */
final class AccessGauges implements MeterBinder {

	private final AccessControl control;

	AccessGauges(AccessControl control) {
		this.control = control;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("kvorum.access.keys", this.control, it -> it.state().keys())
			.description("API keys in use")
			.baseUnit("keys")
			.register(registry);
		TimeGauge.builder("kvorum.access.stale", this.control, TimeUnit.SECONDS, AccessControl::staleSeconds)
			.description("How long the file of the API keys has been unusable, so that the keys before it stay in use")
			.register(registry);
	}

}
