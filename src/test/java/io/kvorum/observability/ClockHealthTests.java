package io.kvorum.observability;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.testing.SteeredTime;
import io.kvorum.transport.TransportEvents.Call;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

import static org.assertj.core.api.Assertions.assertThat;

class ClockHealthTests {

	private final SteeredTime time = new SteeredTime();

	private final HybridLogicalClock clock = new HybridLogicalClock(this.time);

	private final ClockRefusals refusals = new ClockRefusals(this.time);

	ClockHealthTests() {
		this.clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
		this.clock.next();
	}

	private Map<String, Object> details(boolean hasPeers) {
		Health health = new ClockHealth(this.clock, this.refusals, () -> hasPeers).health()
			.blockOptional()
			.orElseThrow();
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

	@Test
	void aNodeThatIsBehindSaysThatItRefusesTheVersionsOfOthersForAMinute() {
		this.clock.refused(new Version((this.time.millis() + 2_000) << Version.COUNTER_BITS, 3));

		assertThat(details(true)).containsEntry("versionsAheadMillis", 0L)
			.containsEntry("writes",
					"refused in part: versions of other nodes, the last one 2000 ms ahead of this node's clock");
		this.time.pass(HybridLogicalClock.REFUSALS_KEPT.plusNanos(1));
		assertThat(details(true)).containsEntry("writes", "accepted");
	}

	@Test
	void aNodeThatIsAheadNamesThePeersThatRefuseItsVersionsForAMinute() {
		Topology topology = Topology.of(List.of("http://a", "http://b", "http://c"), 3);
		List<Member> members = topology.members();
		TransportMeters meters = new TransportMeters(new SimpleMeterRegistry(), this.refusals);
		meters.replied(members.get(1), Call.STORE, Failed.notDone(Reason.CLOCK, "ahead"), 1);
		meters.replied(members.get(2), Call.STORE, Failed.notDone(Reason.TIMEOUT, "slow"), 1);

		assertThat(details(true)).containsEntry("writes",
				"refused in part: versions of this node, more than 500 ms ahead of the clocks of http://b");
		this.time.pass(HybridLogicalClock.REFUSALS_KEPT.plusNanos(1));
		assertThat(details(true)).containsEntry("writes", "accepted");
	}

	@Test
	void theDriftTellsHowFarAheadTheVersionsAreThatANodeRefuses() {
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		new NodeMeters(List::of, this.clock).bindTo(meters);
		assertThat(meters.get("kvorum.clock.drift").timeGauge().value(TimeUnit.SECONDS)).isZero();

		this.clock.refused(new Version((this.time.millis() + 2_000) << Version.COUNTER_BITS, 3));

		assertThat(meters.get("kvorum.clock.drift").timeGauge().value(TimeUnit.SECONDS)).isEqualTo(2);
	}

}
