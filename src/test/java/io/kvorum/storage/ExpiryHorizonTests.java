package io.kvorum.storage;

import java.time.Duration;
import java.util.Arrays;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ExpiryHorizonTests {

	private static final Duration MARGIN = Duration.ofHours(1);

	private final SteeredTime time = new SteeredTime();

	private final ExpiryHorizon horizon = new ExpiryHorizon(this.time, MARGIN);

	private long horizonAfter(Duration elapsed) {
		long horizonMillis = this.horizon.millis();
		for (long minute = 0; minute < elapsed.toMinutes(); minute++) {
			this.time.pass(Duration.ofMinutes(1));
			horizonMillis = this.horizon.millis();
		}
		return horizonMillis;
	}

	@Test
	void afterAStartNothingMayBeRemovedUntilTheMarginHasPassed() {
		assertThat(horizonAfter(MARGIN.minusMinutes(1))).isEqualTo(ExpiryHorizon.NOTHING);
		assertThat(horizonAfter(Duration.ofMinutes(1))).isEqualTo(SteeredTime.START_MILLIS);
	}

	@Test
	void itFollowsTheClockByTheMargin() {
		long horizonMillis = horizonAfter(Duration.ofHours(30));

		assertThat(this.time.millis() - horizonMillis).isBetween(MARGIN.toMillis(), MARGIN.plusMinutes(2).toMillis());
	}

	@Test
	void aClockThatIsAheadForLessThanTheMarginDoesNotMoveItAndOneThatStaysAheadDoes() {
		horizonAfter(Duration.ofHours(5));
		this.time.jump(Duration.ofDays(1));
		assertThat(horizonAfter(MARGIN.minusMinutes(1)))
			.isLessThan(SteeredTime.START_MILLIS + Duration.ofHours(5).toMillis());

		assertThat(horizonAfter(Duration.ofMinutes(3)))
			.isGreaterThan(SteeredTime.START_MILLIS + Duration.ofDays(1).toMillis());
	}

	@Test
	void aClockThatIsSetBackTakesItAlongAtOnce() {
		horizonAfter(Duration.ofHours(5));
		this.time.jump(Duration.ofHours(-3));

		assertThat(this.horizon.millis()).isEqualTo(this.time.millis());
	}

	@Test
	void withoutAMarginItIsNow() {
		ExpiryHorizon without = new ExpiryHorizon(this.time, Duration.ZERO);
		assertThat(without.millis()).isEqualTo(this.time.millis());
		this.time.jump(Duration.ofHours(1));
		assertThat(without.millis()).isEqualTo(this.time.millis());
	}

	@SeededTest
	void itIsNeverLaterThanAnythingTheClockHasShownWithinTheMargin(long seed) {
		Generator random = new Generator(seed);
		ExpiryHorizon small = new ExpiryHorizon(this.time, Duration.ofMinutes(10));
		long[] shown = new long[3_000];
		for (int second = 0; second < shown.length; second++) {
			this.time.pass(Duration.ofSeconds(1));
			if (random.chance(1)) {
				this.time.jump(Duration.ofSeconds(random.below(20_000) - 10_000));
			}
			shown[second] = this.time.millis();
			long horizonMillis = small.millis();
			assertThat(horizonMillis == ExpiryHorizon.NOTHING).isEqualTo(second < 600);
			assertThat(Arrays.stream(shown, Math.max(0, second - 600), second + 1).min().orElseThrow())
				.isGreaterThanOrEqualTo(horizonMillis);
		}
	}

}
