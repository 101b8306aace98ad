package io.kvorum.clock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;

import io.kvorum.kv.Version;
import io.kvorum.testing.SteeredTime;
import io.kvorum.testing.Together;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class HybridLogicalClockTests {

	private static final long NODE = 7;

	private final SteeredTime time = new SteeredTime();

	private final SteeredBounds disk = new SteeredBounds();

	private HybridLogicalClock clock = started(0);

	private HybridLogicalClock started(long storedBound) {
		HybridLogicalClock started = new HybridLogicalClock(this.time);
		CompletionStage<?> ready = started.start(NODE, storedBound, this.disk);
		assertThat(ready.toCompletableFuture()).isCompleted();
		return started;
	}

	@Test
	void aVersionHasTheTimeOfNowAndTheNodeOfTheClock() {
		Version version = this.clock.next();

		assertThat(version.millis()).isEqualTo(this.time.millis());
		assertThat(version.node()).isEqualTo(NODE);
		assertThat(this.clock.driftMillis()).isZero();
	}

	@Test
	void withinOneMillisecondVersionsGrowByCounting() {
		Version first = this.clock.next();
		Version second = this.clock.next();

		assertThat(second.timestamp()).isEqualTo(first.timestamp() + 1);
		assertThat(second.millis()).isEqualTo(this.time.millis());
	}

	@Test
	void moreVersionsThanAMillisecondHasGoOnInTheNextOne() {
		Version first = this.clock.next();
		for (int i = 1; i < 1 << Version.COUNTER_BITS; i++) {
			this.clock.next();
		}
		Version next = this.clock.next();

		assertThat(next.timestamp()).isEqualTo(first.timestamp() + (1 << Version.COUNTER_BITS));
		assertThat(next.millis()).isEqualTo(this.time.millis() + 1);
		assertThat(this.clock.driftMillis()).isEqualTo(1);
	}

	@Test
	void aloneNoVersionIsGivenBelowOneThatWasSeen() {
		Version seen = new Version(Version.lastTimestampOf(this.time.millis() + 1000), NODE);

		assertThatExceptionOfType(ClockLeadException.class).isThrownBy(() -> this.clock.nextAlone(seen));
		this.time.jump(Duration.ofSeconds(2));
		assertThat(this.clock.nextAlone(seen)).isGreaterThan(seen);
	}

	@Test
	void whenTheMachineClockFallsBackVersionsGoOnByCountingAndTheDriftShows() {
		Version before = this.clock.next();
		this.time.jump(Duration.ofHours(-1));
		Version after = this.clock.next();

		assertThat(after.timestamp()).isEqualTo(before.timestamp() + 1);
		assertThat(this.clock.driftMillis()).isEqualTo(Duration.ofHours(1).toMillis());
	}

	@Test
	void afterAnIdleHourNextAsksForAnExtensionAndThenTheVersionIsOfNow() {
		this.clock.next();
		this.time.pass(Duration.ofHours(1));

		assertThatExceptionOfType(ClockBoundException.class).isThrownBy(this.clock::next);
		assertThat(this.clock.extension().toCompletableFuture()).isCompleted();
		assertThat(this.clock.next().millis()).isEqualTo(this.time.millis());
	}

	@Test
	void whileVersionsAreGivenNobodyWaitsForAnExtension() {
		for (int i = 0; i < 100; i++) {
			this.time.pass(Duration.ofMillis(HybridLogicalClock.AHEAD_MILLIS / 2));
			assertThat(this.clock.next().millis()).isEqualTo(this.time.millis());
		}
	}

	@Test
	void withinTheFirstHalfOfTheBoundNothingIsStored() {
		int before = this.disk.stores();
		this.time.pass(Duration.ofMillis(HybridLogicalClock.AHEAD_MILLIS / 2));
		this.clock.next();

		assertThat(this.disk.stores()).isEqualTo(before);
	}

	@Test
	void whileAnExtensionIsUnderWayVersionsAreGivenUpToTheBoundThatIsStoredAndNoFurther() {
		this.disk.hold();
		this.time.pass(Duration.ofMillis(HybridLogicalClock.AHEAD_MILLIS));

		assertThat(this.clock.next().millis()).isEqualTo(this.disk.storedMillis());
		this.time.pass(Duration.ofMillis(1));
		assertThatExceptionOfType(ClockBoundException.class).isThrownBy(this.clock::next);
		this.disk.storeWaiting();
		assertThat(this.clock.next().millis()).isEqualTo(this.time.millis());
	}

	@Test
	void whoeverAsksForAnExtensionWhileOneIsUnderWayWaitsForThatOne() {
		this.disk.hold();
		CompletionStage<?> first = this.clock.extension();
		CompletionStage<?> second = this.clock.extension();

		assertThat(this.disk.waiting()).isEqualTo(1);
		this.disk.storeWaiting();
		assertThat(first.toCompletableFuture()).isCompleted();
		assertThat(second.toCompletableFuture()).isCompleted();
	}

	@Test
	void anExtensionThatFailsGivesNoVersionsAndTheNextOneThatSucceedsDoes() {
		this.disk.hold();
		this.time.pass(Duration.ofHours(1));
		CompletionStage<?> extension = this.clock.extension();
		this.disk.failWaiting();

		assertThat(extension.toCompletableFuture()).isCompletedExceptionally();
		assertThatExceptionOfType(ClockBoundException.class).isThrownBy(this.clock::next);
		this.disk.storeWaiting();
		assertThat(this.clock.extension().toCompletableFuture()).isCompleted();
		assertThat(this.clock.next().millis()).isEqualTo(this.time.millis());
	}

	@Test
	void aStoreOfBoundsThatThrowsFailsThatExtensionAndNoLaterOne() {
		HybridLogicalClock other = new HybridLogicalClock(this.time);
		List<Long> stored = new ArrayList<>();
		CompletionStage<?> first = other.start(NODE, 0, millis -> {
			if (stored.isEmpty()) {
				stored.add(-1L);
				throw new SteeredBounds.DiskFull();
			}
			return this.disk.store(millis);
		});

		assertThat(first.toCompletableFuture()).isCompletedExceptionally();
		assertThat(other.extension().toCompletableFuture()).isCompleted();
		assertThat(other.next().millis()).isEqualTo(this.time.millis());
	}

	@Test
	void afterARestartVersionsGoOnAboveTheStoredBoundAlsoWhereTheMachineClockFellBack() {
		Version before = this.clock.next();
		this.time.jump(Duration.ofDays(-1));
		long stored = this.disk.storedMillis();
		this.clock = started(stored);
		Version after = this.clock.next();

		assertThat(after.isNewerThan(before)).isTrue();
		assertThat(after.millis()).isEqualTo(stored + 1);
	}

	@Test
	void afterACrashDuringAnExtensionVersionsAreAboveAllThatWereGivenBefore() {
		this.disk.hold();
		this.time.pass(Duration.ofMillis(HybridLogicalClock.AHEAD_MILLIS));
		Version before = this.clock.next();
		assertThat(this.disk.waiting()).isEqualTo(1);
		this.disk.forgetWaiting();
		this.time.jump(Duration.ofMinutes(-1));
		this.clock = started(this.disk.storedMillis());

		assertThat(this.clock.next().isNewerThan(before)).isTrue();
	}

	@Test
	void aNodeThatWasOffForADayGivesVersionsOfNow() {
		this.clock.next();
		this.time.pass(Duration.ofDays(1));
		this.clock = started(this.disk.storedMillis());

		assertThat(this.clock.next().millis()).isEqualTo(this.time.millis());
	}

	@Test
	void whereTheBoundCannotBeStoredAtTheStartThereAreNoVersionsUntilItIs() {
		this.disk.hold();
		HybridLogicalClock other = new HybridLogicalClock(this.time);
		CompletionStage<?> ready = other.start(NODE, 0, this.disk);

		assertThat(ready.toCompletableFuture()).isNotDone();
		assertThatExceptionOfType(ClockBoundException.class).isThrownBy(other::next);
		this.disk.storeWaiting();
		assertThat(ready.toCompletableFuture()).isCompleted();
		assertThat(other.next().millis()).isEqualTo(this.time.millis());
	}

	@Test
	void whenTheMachineClockFallsBackTheStoredBoundDoesNot() {
		this.time.pass(Duration.ofSeconds(5));
		this.clock.extension();
		long before = this.disk.storedMillis();
		this.time.jump(Duration.ofSeconds(-10));
		this.clock.extension();

		assertThat(this.disk.storedMillis()).isEqualTo(before);
	}

	@Test
	void aClockThatWasNotStartedGivesNoVersionsAndNoExtension() {
		HybridLogicalClock other = new HybridLogicalClock(this.time);

		assertThatExceptionOfType(ClockBoundException.class).isThrownBy(other::next);
		assertThat(other.extension().toCompletableFuture()).isCompletedExceptionally();
	}

	@Test
	void severalThreadsGetGrowingVersionsAndNoneTwice() {
		int each = 50_000;
		List<List<Version>> given = Together.run(4, _ -> () -> {
			List<Version> mine = new ArrayList<>(each);
			for (int i = 0; i < each; i++) {
				mine.add(this.clock.next());
			}
			return mine;
		});

		Set<Version> all = new HashSet<>();
		for (List<Version> mine : given) {
			assertThat(mine).isSorted();
			all.addAll(mine);
		}
		assertThat(all).hasSize(4 * each);
	}

}
