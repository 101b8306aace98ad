package io.kvorum.observability;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.kvorum.api.RequestEvents;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.http.Outcome;
import org.springframework.http.HttpMethod;

/**
 * Requests for entities, under the name and with the tags that Spring gives to HTTP
 * requests, so that dashboards made for those show them. Spring's own observation of
 * these requests is switched off: it costs several times as much.
 */
final class RequestMeters implements RequestEvents {

	static final String NAME = "http.server.requests";

	static final String PATH = "/v0/entity";

	/** The duration that the alerts call slow, which is the end of a bucket. */
	private static final Duration SLOW = Duration.ofMillis(100);

	private static final Set<String> METHODS = Stream.of(HttpMethod.values())
		.map(HttpMethod::name)
		.collect(Collectors.toUnmodifiableSet());

	/** The status where the client went away before it had one, too. */
	private static final String UNKNOWN = "UNKNOWN";

	private final MeterRegistry registry;

	private final Map<String, Map<Integer, Timer>> timers = new ConcurrentHashMap<>();

	RequestMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void answered(String method, int status, long nanos) {
		// Clients can send any word as a method: unknown ones share a meter.
		String name = METHODS.contains(method) ? method : UNKNOWN;
		this.timers.computeIfAbsent(name, _ -> new ConcurrentHashMap<>())
			.computeIfAbsent(status, code -> timer(name, code))
			.record(nanos, TimeUnit.NANOSECONDS);
	}

	private Timer timer(String method, int status) {
		return Timer.builder(NAME)
			.tag("error", "none")
			.tag("exception", "none")
			.tag("method", method)
			.tag("outcome", Outcome.forStatus(status).name())
			.tag("status", (status != 0) ? Integer.toString(status) : UNKNOWN)
			.tag("uri", PATH)
			.serviceLevelObjectives(SLOW)
			.register(this.registry);
	}

}
