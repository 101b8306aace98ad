package io.kvorum.observability;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.api.RequestEvents;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.http.Outcome;
import org.jspecify.annotations.Nullable;
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

	/**
	 * Tag of an unknown method, and of the status if a client left before there was one.
	 */
	private static final String UNKNOWN = "UNKNOWN";

	/** The statuses of HTTP are less than this. */
	private static final int STATUSES = 600;

	private final MeterRegistry registry;

	/** The timers of each method by their status; null where there was no such answer. */
	private final Map<String, AtomicReferenceArray<@Nullable Timer>> timers;

	private final AtomicReferenceArray<@Nullable Timer> ofUnknown = new AtomicReferenceArray<>(STATUSES);

	RequestMeters(MeterRegistry registry) {
		this.registry = registry;
		this.timers = Stream.of(HttpMethod.values())
			.collect(Collectors.toUnmodifiableMap(HttpMethod::name, _ -> new AtomicReferenceArray<>(STATUSES)));
	}

	@Override
	public void answered(String method, int status, long nanos) {
		AtomicReferenceArray<@Nullable Timer> ofMethod = this.timers.get(method);
		// Clients may send any word as a method, so all unknown ones share a meter.
		Timer timer = (ofMethod != null) ? timer(ofMethod, method, status) : timer(this.ofUnknown, UNKNOWN, status);
		timer.record(nanos, TimeUnit.NANOSECONDS);
	}

	private Timer timer(AtomicReferenceArray<@Nullable Timer> ofMethod, String method, int status) {
		Timer timer = ofMethod.get(status);
		if (timer == null) {
			// The registry returns the same one to each that asks.
			timer = timer(method, status);
			ofMethod.set(status, timer);
		}
		return timer;
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
		return Stream.concat(this.timers.values().stream(), Stream.of(this.ofUnknown))
			.flatMap(ofMethod -> IntStream.range(0, STATUSES).mapToObj(ofMethod::get))
			.filter(Objects::nonNull);
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
