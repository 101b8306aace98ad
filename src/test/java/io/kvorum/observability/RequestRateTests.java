package io.kvorum.observability;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.kvorum.testing.SteeredTime;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

class RequestRateTests {

	private final PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

	private final SteeredTime time = new SteeredTime();

	private final RequestMeters meters;

	private final RequestRate rate;

	RequestRateTests() {
		// As application.yml has it.
		this.prometheus.config().meterFilter(new MeterFilter() {

			@Override
			public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
				return DistributionStatisticConfig.builder().percentilesHistogram(true).build().merge(config);
			}

		});
		this.meters = new RequestMeters(this.prometheus);
		this.rate = new RequestRate(this.meters, this.time);
	}

	private void answer(int count, long millis) {
		for (int i = 0; i < count; i++) {
			this.meters.answered((i % 2 == 0) ? "GET" : "PUT", 200, TimeUnit.MILLISECONDS.toNanos(millis));
		}
	}

	private void sampleAfter(Duration time) {
		this.time.pass(time);
		this.rate.sample();
	}

	private double p99Millis() {
		assertThat(this.rate.describe()).containsKey("p99Millis");
		return (double) this.rate.describe().getOrDefault("p99Millis", Double.NaN);
	}

	@Test
	void beforeTheFirstSampleThereIsOnlyATotal() {
		answer(3, 1);

		assertThat(this.rate.describe()).containsOnly(entry("total", 3L), entry("perSecond", 0.0));
	}

	@Test
	void itTellsTheLastFewSecondsOnly() {
		answer(1000, 90);
		sampleAfter(RequestRate.INTERVAL);
		assertThat(this.rate.describe()).containsEntry("perSecond", 200.0);

		answer(50, 2);
		sampleAfter(RequestRate.INTERVAL);
		assertThat(this.rate.describe()).containsEntry("total", 1050L).containsEntry("perSecond", 10.0);
		assertThat(p99Millis()).as("without the slow ones before").isBetween(2.0, 3.0);

		sampleAfter(RequestRate.INTERVAL);
		assertThat(this.rate.describe()).containsEntry("perSecond", 0.0).doesNotContainKey("p99Millis");
	}

	@Test
	void the99thPercentileIsThatOfAllKindsTogether() {
		answer(98, 1);
		answer(2, 40);
		sampleAfter(RequestRate.INTERVAL);

		assertThat(p99Millis()).isBetween(40.0, 60.0);
	}

}
