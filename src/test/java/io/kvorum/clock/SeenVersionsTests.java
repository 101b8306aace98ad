package io.kvorum.clock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.kvorum.kv.Version;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What the clock makes of the versions that other nodes have given. */
class SeenVersionsTests {

	private static final long NODE = 7;

	private static final int STEPS = 2_000;

	private final SteeredTime time = new SteeredTime();

	private final HybridLogicalClock clock = started(this.time);

	private static HybridLogicalClock started(TimeSource time) {
		HybridLogicalClock started = new HybridLogicalClock(time);
		started.start(NODE, 0, _ -> CompletableFuture.completedFuture(null));
		return started;
	}

	@Test
	void aVersionIsAboveTheOneThatWasSeenAlsoWhereThatIsOfTheFuture() {
		Version seen = ahead(HybridLogicalClock.MAX_LEAD_MILLIS);
		Version next = this.clock.nextAfter(seen);

		assertThat(next.timestamp()).isEqualTo(seen.timestamp() + 1);
		assertThat(next.node()).isEqualTo(NODE);
	}

	@Test
	void anOldVersionThatWasSeenChangesNothing() {
		assertThat(this.clock.nextAfter(Version.ABSENT).millis()).isEqualTo(this.time.millis());
		assertThat(this.clock.nextAfter(ahead(-1)).millis()).isEqualTo(this.time.millis());
	}

	@Test
	void aVersionTooFarAheadIsNotFollowedAndNothingIsGiven() {
		Version seen = ahead(HybridLogicalClock.MAX_LEAD_MILLIS + 1);

		assertThat(this.clock.isTooFarAhead(seen)).isTrue();
		assertThatExceptionOfType(ClockLeadException.class).isThrownBy(() -> this.clock.nextAfter(seen))
			.withMessageContaining("501 ms ahead");
		assertThat(this.clock.next().millis()).isEqualTo(this.time.millis());
	}

	@Test
	void theLimitIsCountedInWholeMillisecondsOfTheMachineClock() {
		long limit = HybridLogicalClock.MAX_LEAD_MILLIS;

		assertThat(this.clock.isTooFarAhead(new Version(Version.lastTimestampOf(ahead(limit).millis()), -1))).isFalse();
		assertThat(this.clock.isTooFarAhead(ahead(limit + 1))).isTrue();
		assertThat(this.clock.isTooFarAhead(new Version(-1, 0))).isTrue();
		assertThat(this.clock.isTooFarAhead(Version.ABSENT)).isFalse();
	}

	@Test
	void whatIsObservedLiesBelowAllThatIsGivenFromThenOn() {
		Version seen = ahead(300);
		this.clock.observe(seen);

		assertThat(this.clock.next().isNewerThan(seen)).isTrue();
		assertThat(this.clock.driftMillis()).isEqualTo(300);
	}

	@Test
	void aVersionThatIsTooFarAheadToBeFollowedIsRememberedForAMinute() {
		assertThat(this.clock.refusedLeadMillis()).isZero();
		assertThatExceptionOfType(ClockLeadException.class).isThrownBy(() -> this.clock.nextAfter(ahead(2_000)));

		this.time.pass(HybridLogicalClock.REFUSALS_KEPT);
		assertThat(this.clock.refusedLeadMillis()).isEqualTo(2_000);
		this.time.pass(Duration.ofMillis(1));
		assertThat(this.clock.refusedLeadMillis()).isZero();
	}

	@Test
	void whatIsObservedTooFarAheadIsIgnored() {
		this.clock.observe(ahead(HybridLogicalClock.MAX_LEAD_MILLIS + 1));

		assertThat(this.clock.next().millis()).isEqualTo(this.time.millis());
	}

	@Test
	void whereTheMachineClockFallsBackVersionsForOthersGoOnUpToTheLimitAndAreAboveAllGivenWhenItHasCaughtUp() {
		Version before = this.clock.nextAfter(Version.ABSENT);
		this.time.jump(Duration.ofMillis(-HybridLogicalClock.MAX_LEAD_MILLIS));
		Version within = this.clock.nextAfter(Version.ABSENT);
		assertThat(within.timestamp()).isEqualTo(before.timestamp() + 1);

		this.time.jump(Duration.ofMillis(-1));
		assertThatExceptionOfType(ClockLeadException.class).isThrownBy(() -> this.clock.nextAfter(Version.ABSENT))
			.withMessageContaining("501 ms ahead of its clock, the limit is 500 ms");
		assertThatExceptionOfType(ClockLeadException.class).isThrownBy(() -> this.clock.nextAfter(before));
		this.time.pass(Duration.ofMillis(1));
		assertThat(this.clock.nextAfter(Version.ABSENT).isNewerThan(within)).isTrue();
	}

	@Test
	void afterAStartWithABoundFarAheadNoVersionIsGivenForOthersAndOneIsForANodeAlone() {
		HybridLogicalClock ahead = new HybridLogicalClock(this.time);
		ahead.start(NODE, this.time.millis() + Duration.ofHours(23).toMillis(),
				_ -> CompletableFuture.completedFuture(null));

		assertThatExceptionOfType(ClockLeadException.class).isThrownBy(() -> ahead.nextAfter(Version.ABSENT))
			.withMessageContaining("82800001 ms ahead of its clock");
		assertThat(ahead.next().millis()).isEqualTo(this.time.millis() + 82_800_001);
	}

	@Test
	void entriesExpireByTheNewestVersionSeenOrByTheMachineClockWhicheverIsLaterUpToTheLimit() {
		assertThat(this.clock.expiryMillis()).isEqualTo(this.time.millis());
		this.clock.observe(ahead(300));
		assertThat(this.clock.expiryMillis()).isEqualTo(this.time.millis() + 300);
		this.time.jump(Duration.ofMillis(-200));
		assertThat(this.clock.expiryMillis()).as("it does not go back").isEqualTo(this.time.millis() + 500);
		this.time.jump(Duration.ofHours(-1));
		assertThat(this.clock.expiryMillis()).isEqualTo(this.time.millis() + 500);
		this.time.pass(Duration.ofHours(2));
		assertThat(this.clock.expiryMillis()).isEqualTo(this.time.millis());
		assertThat(this.clock.expiryTime().millis()).isEqualTo(this.clock.expiryMillis());
		assertThat(this.clock.expiryTime().nanos()).isEqualTo(this.time.nanos());
	}

	@Test
	void aVersionStandsForItsOwnInstantUnlessItIsFarAheadOfTheClockOfANodeAlone() {
		assertThat(this.clock.expiryMillisOf(this.clock.nextAfter(ahead(400)))).isEqualTo(this.time.millis() + 400);
		this.time.jump(Duration.ofHours(-1));
		assertThat(this.clock.expiryMillisOf(this.clock.next())).isEqualTo(this.clock.expiryMillis());
	}

	@Test
	void aVersionSeenAtTheStoredBoundAsksForAnExtensionAndIsPassedAfterIt() {
		this.time.pass(Duration.ofMillis(HybridLogicalClock.AHEAD_MILLIS));
		Version seen = ahead(0);
		this.clock.observe(new Version(Version.lastTimestampOf(seen.millis()), 1));

		assertThatExceptionOfType(ClockBoundException.class).isThrownBy(() -> this.clock.nextAfter(seen));
		this.clock.extension();
		assertThat(this.clock.nextAfter(seen).isNewerThan(seen)).isTrue();
	}

	@Test
	void aVersionIsAboveTheOneSeenWhereverTheMachineClockFallsBackMeanwhile() {
		for (int readings = 1; readings < 5; readings++) {
			FallingTime falling = new FallingTime();
			HybridLogicalClock other = started(falling);
			Version seen = ahead(100);
			falling.fallAfter(readings);

			assertThat(other.nextAfter(seen).isNewerThan(seen)).isTrue();
		}
	}

	@SeededTest
	void whateverIsSeenVersionsGrowAndStayAboveWhatWasFollowed(long seed) {
		Generator random = new Generator(seed);
		Version last = Version.ABSENT;
		for (int i = 0; i < STEPS; i++) {
			this.time.pass(Duration.ofMillis(random.below(5)));
			if (random.chance(5)) {
				this.time.jump(Duration.ofMillis(random.below(400) - 200));
			}
			Version seen = ahead(random.below(1_200) - 600);
			this.clock.extension();
			Version given = random.chance(50) ? afterObserving(seen) : nextAfter(seen);
			assertThat(given.isNewerThan(last)).isTrue();
			assertThat(given.isNewerThan(seen) || this.clock.isTooFarAhead(seen)).isTrue();
			last = given;
		}
	}

	private Version afterObserving(Version seen) {
		this.clock.observe(seen);
		return this.clock.next();
	}

	private Version nextAfter(Version seen) {
		try {
			return this.clock.nextAfter(seen);
		}
		catch (ClockLeadException _) {
			assertThat(this.clock.isTooFarAhead(seen) || this.clock.driftMillis() >= HybridLogicalClock.MAX_LEAD_MILLIS)
				.isTrue();
			return this.clock.next();
		}
	}

	private Version ahead(long millis) {
		return new Version((this.time.millis() + millis) << Version.COUNTER_BITS, 1);
	}

	/** Falls back by a second after it was read so often. */
	private static final class FallingTime implements TimeSource {

		private int readingsLeft = Integer.MAX_VALUE;

		void fallAfter(int readings) {
			this.readingsLeft = readings;
		}

		@Override
		public long millis() {
			return SteeredTime.START_MILLIS - ((this.readingsLeft-- > 0) ? 0 : 1_000);
		}

		@Override
		public long nanos() {
			return 0;
		}

	}

}
