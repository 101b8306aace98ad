package io.kvorum.observability;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.operation.RangeOutcome;
import io.kvorum.operation.RangeScope;
import io.kvorum.range.RangeEvents;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** Meters of ranges. */
final class RangeMeters implements RangeEvents {

	private final AtomicInteger active = new AtomicInteger();

	private final Map<RangeScope, Map<RangeOutcome, Timer>> ended = new EnumMap<>(RangeScope.class);

	private final Map<RangeScope, Counter> refused = new EnumMap<>(RangeScope.class);

	private final Counter entries;

	private final Counter bytes;

	private final Counter lost;

	private final Counter back;

	RangeMeters(MeterRegistry registry) {
		for (RangeScope scope : RangeScope.values()) {
			Map<RangeOutcome, Timer> ofScope = new EnumMap<>(RangeOutcome.class);
			for (RangeOutcome outcome : RangeOutcome.values()) {
				ofScope.put(outcome,
						Timer.builder("kvorum.range.requests")
							.tag("scope", text(scope))
							.tag("outcome", text(outcome))
							.description("Ranges that have ended, with the time that each took, including the client's")
							.register(registry));
			}
			this.ended.put(scope, ofScope);
			this.refused.put(scope,
					Counter.builder("kvorum.range.refused")
						.tag("scope", text(scope))
						.description("Ranges refused because too many were under way")
						.register(registry));
		}
		Gauge.builder("kvorum.range.active", this.active, AtomicInteger::get)
			.description("Ranges under way")
			.baseUnit("ranges")
			.register(registry);
		this.entries = Counter.builder("kvorum.range.entries")
			.description("Entries sent in ranges")
			.baseUnit("entries")
			.register(registry);
		this.bytes = Counter.builder("kvorum.range.size")
			.description("Size of the keys and values sent in ranges")
			.baseUnit("bytes")
			.register(registry);
		this.lost = replicas("lost", registry);
		this.back = replicas("back", registry);
	}

	private static Counter replicas(String change, MeterRegistry registry) {
		return Counter.builder("kvorum.range.replicas")
			.tag("change", change)
			.description("Replicas that a range continued without, and those that took part again")
			.register(registry);
	}

	private static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT);
	}

	@Override
	public void began(RangeScope scope) {
		this.active.incrementAndGet();
	}

	@Override
	public void ended(RangeScope scope, RangeOutcome outcome, long nanos) {
		this.active.decrementAndGet();
		Timer timer = this.ended.getOrDefault(scope, Map.of()).get(outcome);
		if (timer != null) {
			timer.record(nanos, TimeUnit.NANOSECONDS);
		}
	}

	@Override
	public void refused(RangeScope scope) {
		Counter counter = this.refused.get(scope);
		if (counter != null) {
			counter.increment();
		}
	}

	@Override
	public void returned(int entries, long bytes) {
		this.entries.increment(entries);
		this.bytes.increment((double) bytes);
	}

	@Override
	public void replicaLost() {
		this.lost.increment();
	}

	@Override
	public void replicaBack() {
		this.back.increment();
	}

}
