package io.kvorum.convergence.tombstones;

import java.time.Duration;

import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.PromiseRecord;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RipePromisesTests {

	private static final Key KEY = Generator.key("key");

	private static final long HOUR = Duration.ofHours(1).toNanos();

	private final RipePromises ripe = new RipePromises(RendezvousPlacement::hashOf, Duration.ofHours(1),
			Duration.ofMinutes(10));

	private boolean isRipe(long ballot, long now) {
		return this.ripe.isRipe(new PromiseRecord(KEY, new Version(ballot, 1)), now);
	}

	@Test
	void aPromiseIsRipeAfterTheMarginAndAHigherOneOfTheKeyBeginsAnew() {
		assertThat(isRipe(7, 0)).isFalse();
		assertThat(isRipe(7, HOUR - 1)).isFalse();
		assertThat(isRipe(8, HOUR - 1)).isFalse();
		assertThat(isRipe(7, HOUR)).isTrue();
		assertThat(isRipe(8, HOUR)).isFalse();
	}

	@Test
	void oneThatWasNotLookedAtForADayBeginsAnew() {
		isRipe(7, 0);
		isRipe(8, 0);
		this.ripe.forgetGone(24 * HOUR);
		assertThat(isRipe(7, 24 * HOUR)).isTrue();

		this.ripe.forgetGone(24 * HOUR + 1);
		assertThat(isRipe(8, 24 * HOUR + 1)).isFalse();
	}

	@Test
	void aLongIntervalIsNoReasonToBeginAnew() {
		RipePromises seldom = new RipePromises(RendezvousPlacement::hashOf, Duration.ofHours(1), Duration.ofDays(30));
		PromiseRecord promise = new PromiseRecord(KEY, new Version(7, 1));
		assertThat(seldom.isRipe(promise, 0)).isFalse();
		seldom.forgetGone(30 * 24 * HOUR);
		assertThat(seldom.isRipe(promise, 30 * 24 * HOUR)).isTrue();
	}

	@Test
	void whatIsRememberedHasALimit() {
		for (int i = 0; i < 100_000; i++) {
			isRipe(i, 0);
		}
		assertThat(isRipe(100_000, 0)).isFalse();
		assertThat(isRipe(100_000, HOUR)).as("it is not remembered").isFalse();
		assertThat(isRipe(0, HOUR)).isTrue();
		assertThat(isRipe(100_000, HOUR)).as("there is a place now").isFalse();
		assertThat(isRipe(100_000, 2 * HOUR)).isTrue();
	}

}
