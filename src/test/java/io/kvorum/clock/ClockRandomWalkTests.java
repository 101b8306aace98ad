package io.kvorum.clock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.kv.Version;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SteeredTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever happens to the machine's clock, the disk and the process: versions grow, and
 * none lies above a bound that is on disk.
 */
class ClockRandomWalkTests {

	private final SteeredTime time = new SteeredTime();

	private final SteeredBounds disk = new SteeredBounds();

	private final List<String> log = new ArrayList<>();

	private HybridLogicalClock clock = new HybridLogicalClock(this.time);

	private Version last = Version.ABSENT;

	private int given;

	@SeededTest
	void overJumpsRestartsAndFailedStoresVersionsGrowAndStayBelowTheStoredBound(long seed) {
		Generator random = new Generator(seed);
		restart();
		for (int step = 0; step < 2000; step++) {
			step(random);
			next();
		}
		assertThat(this.given).as("steps that gave a version").isGreaterThan(500);
	}

	private void step(Generator random) {
		switch (random.below(10)) {
			case 0, 1, 2 -> pass(Duration.ofMillis(random.below(1500)));
			case 3 -> pass(Duration.ofMinutes(random.below(100)));
			case 4 -> jump(Duration.ofMillis(random.below(20_000) - 10_000));
			case 5 -> doing("hold", this.disk::hold);
			case 6 -> doing("fail", this.disk::failWaiting);
			case 7 -> doing("store", this.disk::storeWaiting);
			case 8 -> doing("extend", this.clock::extension);
			default -> {
				if (random.chance(30)) {
					doing("crash and restart", this::restart);
				}
			}
		}
	}

	private void pass(Duration time) {
		doing("pass " + time, () -> this.time.pass(time));
	}

	private void jump(Duration by) {
		doing("jump " + by, () -> this.time.jump(by));
	}

	private void restart() {
		this.disk.forgetWaiting();
		this.clock = new HybridLogicalClock(this.time);
		this.clock.start(1, this.disk.storedMillis(), this.disk);
	}

	private void doing(String what, Runnable action) {
		this.log.add(what);
		action.run();
	}

	private void next() {
		Version version;
		try {
			version = this.clock.next();
		}
		catch (ClockBoundException _) {
			this.log.add("none");
			return;
		}
		this.log.add(version.toString());
		this.given++;
		assertThat(version.isNewerThan(this.last)).as("newer than %s; log: %s", this.last, this.log).isTrue();
		assertThat(version.millis()).as("below the stored bound; log: %s", this.log)
			.isLessThanOrEqualTo(this.disk.storedMillis());
		this.last = version;
	}

}
