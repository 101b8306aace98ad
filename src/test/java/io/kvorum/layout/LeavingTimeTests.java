package io.kvorum.layout;

import java.time.Duration;

import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LeavingTimeTests {

	private final SteeredTime time = new SteeredTime();

	private final LeavingTime leaving = new LeavingTime(Duration.ofDays(10), this.time);

	@Test
	void aMemberServesForAnHourAfterItWasRemoved() {
		assertThat(this.leaving.isOver(false)).isFalse();
		this.time.pass(Duration.ofDays(30));
		assertThat(this.leaving.isOver(true)).isFalse();
		this.time.pass(LeavingTime.LONGEST.minusNanos(1));
		assertThat(this.leaving.isOver(true)).isFalse();
		this.time.pass(Duration.ofNanos(1));
		assertThat(this.leaving.isOver(true)).isTrue();
	}

	@Test
	void tombstonesThatAreKeptBrieflyLeaveLessTime() {
		LeavingTime brief = new LeavingTime(Duration.ofMinutes(2), this.time);
		brief.isOver(false);
		brief.isOver(true);
		this.time.pass(Duration.ofSeconds(30));

		assertThat(brief.isOver(true)).isTrue();
	}

	@Test
	void oneThatWasRemovedBeforeItStartedServesNobody() {
		assertThat(this.leaving.isOver(true)).isTrue();
	}

	@Test
	void oneThatIsAddedAgainBeginsAgain() {
		this.leaving.isOver(true);
		assertThat(this.leaving.isOver(false)).isFalse();
		assertThat(this.leaving.isOver(true)).isFalse();
	}

}
