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
 * Timer of requests for entities. It has Spring's name and tags for HTTP requests, so
 * that dashboards for these work. Spring's own observation of them is switched off: it
 * costs several times as much.
 */
final class RequestMeters implements RequestEvents {

	static final String NAME = "http.server.requests";

	static final String PATH = "/v0/entity";

	/**
	 * Duration above which the alerts call a request slow; it has a bucket of its own.
	 */
	private static final Duration SLOW = Duration.ofMillis(100);

	private static final Set<String> METHODS = Stream.of(HttpMethod.values())
		.map(HttpMethod::name)
		.collect(Collectors.toUnmodifiableSet());

	/**
	 * Tag of an unknown method, and of the status if a client left before there was one.
	 */
	private static final String UNKNOWN = "UNKNOWN";

	private final MeterRegistry registry;

	private final Map<String, Map<Integer, Timer>> timers = new ConcurrentHashMap<>();

	RequestMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void answered(String method, int status, long nanos) {
		// Clients may send any word as a method, so all unknown ones share a meter.
		String name = METHODS.contains(method) ? method : UNKNOWN;
		this.timers.computeIfAbsent(name, _ -> new ConcurrentHashMap<>())
			.computeIfAbsent(status, code -> timer(name, code))
			.record(nanos, TimeUnit.NANOSECONDS);
	}

	/** The number of requests of all kinds since the start. */
	long count() {
		return all().mapToLong(Timer::count).sum();
	}

	/**
	 * Adds up the histograms of the requests of all kinds.
	 * @param buckets receives the number of requests that took at most so many
	 * milliseconds; stays empty if the registry keeps no histograms
	 */
	void collect(Map<Double, Double> buckets) {
		all().flatMap(timer -> Stream.of(timer.takeSnapshot().histogramCounts()))
			.forEach(bucket -> buckets.merge(bucket.bucket(TimeUnit.MILLISECONDS), bucket.count(), Double::sum));
	}

	private Stream<Timer> all() {
		return this.timers.values().stream().flatMap(ofMethod -> ofMethod.values().stream());
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
