package io.kvorum.observability;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.TimeSource;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/**
 * How many requests for entities this node answers, and how fast, in the last few
 * seconds. Without a system that collects meters this is what a viewer can show.
 */
final class RequestRate implements SmartLifecycle {

	/** The time between two samples. */
	static final Duration INTERVAL = Duration.ofSeconds(5);

	private static final double NEARLY_ALL = 0.99;

	/** The fewest buckets from which a percentile is told. */
	private static final int MIN_BUCKETS = 8;

	private final RequestMeters meters;

	private final TimeSource time;

	private volatile Disposable sampling = Disposables.disposed();

	private Sample last;

	private Sample before;

	RequestRate(RequestMeters meters, TimeSource time) {
		this.meters = meters;
		this.time = time;
		this.last = new Sample(time.nanos(), 0, new TreeMap<>());
		this.before = this.last;
	}

	@Override
	public void start() {
		this.sampling = Flux.interval(INTERVAL, Schedulers.single()).doOnNext(_ -> sample()).subscribe();
	}

	@Override
	public void stop() {
		this.sampling.dispose();
	}

	@Override
	public boolean isRunning() {
		return !this.sampling.isDisposed();
	}

	/** Takes a sample. */
	void sample() {
		Sample now = take();
		synchronized (this) {
			this.before = this.last;
			this.last = now;
		}
	}

	private Sample take() {
		NavigableMap<Double, Double> buckets = new TreeMap<>();
		this.meters.collect(buckets);
		return new Sample(this.time.nanos(), this.meters.count(), buckets);
	}

	/** Tells the total since the start, and what the last two samples show. */
	synchronized Map<String, Object> describe() {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("total", this.meters.count());
		double seconds = (double) (this.last.nanos - this.before.nanos) / TimeUnit.SECONDS.toNanos(1);
		long count = this.last.count - this.before.count;
		described.put("perSecond", (seconds > 0) ? Math.round(count / seconds * 10) / 10.0 : 0);
		Double slowest = p99Millis(count);
		if (slowest != null) {
			described.put("p99Millis", slowest);
		}
		return described;
	}

	/** The bound of the bucket that has the 99th percentile; null if it is not known. */
	private @Nullable Double p99Millis(long count) {
		if (count == 0 || this.last.buckets.size() < MIN_BUCKETS) {
			return null;
		}
		for (Map.Entry<Double, Double> bucket : this.last.buckets.entrySet()) {
			double within = bucket.getValue() - this.before.buckets.getOrDefault(bucket.getKey(), 0.0);
			if (within >= count * NEARLY_ALL && !bucket.getKey().isInfinite()) {
				return Math.round(bucket.getKey() * 1000) / 1000.0;
			}
		}
		return null;
	}

	/**
	 * What the meters had at an instant.
	 *
	 * @param buckets the number of requests that took at most so many milliseconds
	 */
	private record Sample(long nanos, long count, NavigableMap<Double, Double> buckets) {
	}

}
