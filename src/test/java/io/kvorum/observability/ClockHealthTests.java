package io.kvorum.observability;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

import static org.assertj.core.api.Assertions.assertThat;

class ClockHealthTests {

	private final SteeredTime time = new SteeredTime();

	private final HybridLogicalClock clock = new HybridLogicalClock(this.time);

	ClockHealthTests() {
		this.clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
		this.clock.next();
	}

	private Map<String, Object> details(boolean hasPeers) {
		Health health = new ClockHealth(this.clock, hasPeers).health().blockOptional().orElseThrow();
		assertThat(health.getStatus()).isEqualTo(Status.UP);
		return health.getDetails();
	}

	@Test
	void upToTheLimitAheadOfTheClockWritesAreAccepted() {
		this.time.jump(Duration.ofMillis(-HybridLogicalClock.MAX_LEAD_MILLIS));

		assertThat(details(true)).containsEntry("versionsAheadMillis", 500L).containsEntry("writes", "accepted");
	}

	@Test
	void beyondItANodeWithPeersRefusesWritesAndSaysSoWhileANodeAloneGoesOn() {
		this.time.jump(Duration.ofHours(-23));

		assertThat(details(true)).containsEntry("versionsAheadMillis", 82_800_000L)
			.containsEntry("writes", "refused: versions are more than 500 ms ahead of this node's clock");
		assertThat(details(false)).containsEntry("writes", "accepted");
	}

}
