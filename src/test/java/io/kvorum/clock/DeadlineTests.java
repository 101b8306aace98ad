package io.kvorum.clock;

import java.time.Duration;

import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class DeadlineTests {

	private final SteeredTime time = new SteeredTime();

	@Test
	void aDeadlineIsPastFromItsInstantOn() {
		Deadline deadline = Deadline.after(this.time, Duration.ofMillis(10));
		assertThat(deadline.remainingNanos(this.time)).isEqualTo(10_000_000);

		this.time.pass(Duration.ofMillis(10).minusNanos(1));
		assertThat(deadline.isPast(this.time)).isFalse();
		assertThat(deadline.remainingNanos(this.time)).isEqualTo(1);

		this.time.pass(Duration.ofNanos(1));
		assertThat(deadline.isPast(this.time)).isTrue();

		this.time.pass(Duration.ofNanos(5));
		assertThat(deadline.remainingNanos(this.time)).isEqualTo(-5);
	}

	@Test
	void noJumpOfTheWallClockMovesIt() {
		Deadline deadline = Deadline.after(this.time, Duration.ofSeconds(1));
		this.time.jump(Duration.ofHours(1));

		assertThat(deadline.remainingNanos(this.time)).isEqualTo(1_000_000_000);
	}

	@Test
	void theOriginOfTheNanosecondsDoesNotMatter() {
		TimeSource overflowing = new TimeSource() {
			@Override
			public long millis() {
				return 0;
			}

			@Override
			public long nanos() {
				return Long.MAX_VALUE - 5;
			}
		};

		assertThat(Deadline.after(overflowing, Duration.ofSeconds(1)).isPast(overflowing)).isFalse();
	}

}
