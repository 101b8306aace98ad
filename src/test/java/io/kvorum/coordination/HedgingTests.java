package io.kvorum.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** When reads are hedged, and the percentile that decides about it. */
class HedgingTests {

	private static final Duration MOST = Duration.ofMillis(35);

	private static final int SETTLE = 200_000;

	private final List<Duration> alarms = new ArrayList<>();

	private final Hedging hedging = new Hedging(time -> {
		this.alarms.add(time);
		return Mono.never();
	}, MOST, CoordinationEvents.NONE);

	@Test
	void beforeAnythingIsKnownTheDelayIsTheMost() {
		this.hedging.alarm();

		assertThat(this.alarms).containsExactly(MOST);
	}

	@Test
	void theDelayIsNeverMoreThanTheMostNorLessThanAMillisecond() {
		for (int i = 0; i < SETTLE; i++) {
			this.hedging.record(10_000_000_000L);
		}
		assertThat(this.hedging.delay()).isEqualTo(MOST);

		for (int i = 0; i < SETTLE; i++) {
			this.hedging.record(100_000);
		}
		assertThat(this.hedging.delay()).isEqualTo(Duration.ofMillis(1));
	}

	@Test
	void whatIsNotUsedIsSavedUpToALimit() {
		for (int i = 0; i < 1_000_000; i++) {
			this.hedging.alarm();
		}
		int hedged = 0;
		while (this.hedging.mayHedge()) {
			hedged++;
		}

		assertThat(hedged).isEqualTo(2_000);
	}

	@Test
	void aHedgeThatIsRefusedCostsNothing() {
		while (this.hedging.mayHedge()) {
			assertThat(this.hedging.delay()).isPositive();
		}
		for (int i = 0; i < 100; i++) {
			assertThat(this.hedging.mayHedge()).isFalse();
		}
		for (int i = 0; i < 20; i++) {
			assertThat(this.hedging.mayHedge()).isFalse();
			this.hedging.alarm();
		}
		assertThat(this.hedging.mayHedge()).isTrue();
		assertThat(this.hedging.mayHedge()).isFalse();
	}

	@SeededTest
	void theEstimateSettlesAtTheNinetyNinthPercentileOfEvenlySpreadSamples(long seed) {
		Generator random = new Generator(seed);

		assertThat(settled(() -> 1_000_000L + random.below(1_000_000))).isCloseTo(1_990_000, within(40_000L));
	}

	@SeededTest
	void theEstimateSettlesAtTheNinetyNinthPercentileOfSamplesWithALongTail(long seed) {
		Generator random = new Generator(seed);
		long expected = (long) (1_000_000 * -Math.log(0.01));

		assertThat(settled(() -> (long) (1_000_000 * -Math.log((1 + random.below(1 << 20)) / (double) (1 << 20)))))
			.isCloseTo(expected, within(expected / 20));
	}

	/** The mean of the estimates, when they have come from far away. */
	private static long settled(LongSupplier samples) {
		Percentile percentile = new Percentile(99, MOST.toNanos());
		for (int i = 0; i < SETTLE; i++) {
			percentile.add(samples.getAsLong());
		}
		double sum = 0;
		for (int i = 0; i < SETTLE; i++) {
			percentile.add(samples.getAsLong());
			sum += percentile.nanos();
		}
		return (long) (sum / SETTLE);
	}

	@Test
	void theEstimateFollowsSamplesThatGrowAndNeverFallsToNothing() {
		Percentile percentile = new Percentile(99, 1_000_000);
		for (int i = 0; i < SETTLE; i++) {
			percentile.add(0);
		}
		assertThat(percentile.nanos()).isEqualTo(1_000);

		for (int i = 0; i < SETTLE; i++) {
			percentile.add(5_000_000);
		}
		assertThat(percentile.nanos()).isBetween(4_700_000L, 5_300_000L);
	}

}
