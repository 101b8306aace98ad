package io.kvorum.observability;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.storage.EngineMeasures;
import io.kvorum.storage.EngineMeasures.Measure;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;

/** Gauges of the engine's figures and of the drift of the clock. */
final class NodeMeters implements MeterBinder {

	/** Keeps the measures alive, since meters refer to them weakly. */
	private final List<Measure> measures;

	private final HybridLogicalClock clock;

	NodeMeters(EngineMeasures engine, HybridLogicalClock clock) {
		this.measures = List.copyOf(engine.measures());
		this.clock = clock;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		TimeGauge
			.builder("kvorum.clock.drift", this.clock, TimeUnit.MILLISECONDS,
					it -> Math.max(it.driftMillis(), it.refusedLeadMillis()))
			.description(
					"How far versions are ahead of the machine's clock: this node's, or those that it has just refused")
			.register(registry);
		this.measures.forEach(measure -> bind(measure, registry));
	}

	private static void bind(Measure measure, MeterRegistry registry) {
		// With an empty unit the names in Prometheus would end with an underscore.
		String unit = measure.unit().isEmpty() ? null : measure.unit();
		if (measure.cumulative()) {
			FunctionCounter.builder(measure.name(), measure, it -> it.reader().getAsDouble())
				.description(measure.description())
				.baseUnit(unit)
				.register(registry);
		}
		else {
			Gauge.builder(measure.name(), measure, it -> it.reader().getAsDouble())
				.description(measure.description())
				.baseUnit(unit)
				.strongReference(true)
				.register(registry);
		}
	}

}
