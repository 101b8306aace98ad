package io.kvorum.observability;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

import io.kvorum.access.AccessEvents;
import io.kvorum.access.Denial;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** Counters of denied requests and of reloads of the file of API keys. */
final class AccessMeters implements AccessEvents {

	private final Map<Denial, Counter> denied = new EnumMap<>(Denial.class);

	private final Counter loaded;

	private final Counter refused;

	AccessMeters(MeterRegistry registry) {
		for (Denial denial : Denial.values()) {
			this.denied.put(denial,
					Counter.builder("kvorum.access.denied")
						.description("Requests that were denied")
						.tag("reason", denial.name().toLowerCase(Locale.ROOT))
						.register(registry));
		}
		this.loaded = reloads(registry, "loaded");
		this.refused = reloads(registry, "refused");
	}

	private static Counter reloads(MeterRegistry registry, String outcome) {
		return Counter.builder("kvorum.access.reloads")
			.description("Changes of the file of the API keys: loaded, or refused because it cannot be used")
			.tag("outcome", outcome)
			.register(registry);
	}

	@Override
	public void denied(Denial why) {
		Counter counter = this.denied.get(why);
		if (counter != null) {
			counter.increment();
		}
	}

	@Override
	public void reloaded(boolean usable) {
		(usable ? this.loaded : this.refused).increment();
	}

}
