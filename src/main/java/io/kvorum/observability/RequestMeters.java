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
 * Timer of requests for entities, with Spring's name and tags for HTTP requests, so that
 * dashboards for those show them. Spring's own observation of these requests is switched
 * off: it costs several times as much.
 */
final class RequestMeters implements RequestEvents {

	static final String NAME = "http.server.requests";

	static final String PATH = "/v0/entity";

	/** Bound of a slow request in the alerts, for which there is a bucket. */
	private static final Duration SLOW = Duration.ofMillis(100);

	private static final Set<String> METHODS = Stream.of(HttpMethod.values())
		.map(HttpMethod::name)
		.collect(Collectors.toUnmodifiableSet());

	/** Method that is not known, and status of a client that left before it had one. */
	private static final String UNKNOWN = "UNKNOWN";

	private final MeterRegistry registry;

	private final Map<String, Map<Integer, Timer>> timers = new ConcurrentHashMap<>();

	RequestMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void answered(String method, int status, long nanos) {
		// Clients can send any word as a method. Unknown ones share a meter.
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
