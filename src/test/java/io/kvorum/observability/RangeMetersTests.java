package io.kvorum.observability;

import java.util.concurrent.TimeUnit;

import io.kvorum.replication.RangeEvents.Outcome;
import io.kvorum.replication.RangeEvents.Scope;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RangeMetersTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final RangeMeters meters = new RangeMeters(this.registry);

	private double counter(String name, String... tags) {
		return this.registry.get(name).tags(tags).counter().count();
	}

	@Test
	void aRangeIsUnderWayUntilItIsOverAndCountsAsWhatBecameOfIt() {
		this.meters.began(Scope.CLUSTER);
		this.meters.began(Scope.NODE);
		assertThat(this.registry.get("kvorum.range.active").gauge().value()).isEqualTo(2);
		this.meters.ended(Scope.CLUSTER, Outcome.BROKEN, 5_000_000);

		assertThat(this.registry.get("kvorum.range.active").gauge().value()).isEqualTo(1);
		assertThat(this.registry.get("kvorum.range.requests")
			.tags("scope", "cluster", "outcome", "broken")
			.timer()
			.totalTime(TimeUnit.MILLISECONDS)).isEqualTo(5);
		assertThat(this.registry.get("kvorum.range.requests").timers().stream().mapToLong(timer -> timer.count()).sum())
			.isEqualTo(1);
	}

	@Test
	void whatIsToldRefusedLostAndBackIsCounted() {
		this.meters.told(3, 100);
		this.meters.told(0, 0);
		this.meters.told(1, 5);
		this.meters.refused(Scope.NODE);
		this.meters.replicaLost();
		this.meters.replicaLost();
		this.meters.replicaBack();

		assertThat(counter("kvorum.range.entries")).isEqualTo(4);
		assertThat(counter("kvorum.range.size")).isEqualTo(105);
		assertThat(counter("kvorum.range.refused", "scope", "node")).isEqualTo(1);
		assertThat(counter("kvorum.range.refused", "scope", "cluster")).isZero();
		assertThat(counter("kvorum.range.replicas", "change", "lost")).isEqualTo(2);
		assertThat(counter("kvorum.range.replicas", "change", "back")).isEqualTo(1);
	}

}
