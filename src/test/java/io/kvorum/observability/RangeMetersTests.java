package io.kvorum.observability;

import java.util.concurrent.TimeUnit;

import io.kvorum.operation.RangeOutcome;
import io.kvorum.operation.RangeScope;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RangeMetersTests {

	private final SimpleMeterRegistry all = new SimpleMeterRegistry();

	private final RangeMeters events = new RangeMeters(this.all);

	private double counter(String name, String... tags) {
		return this.all.get(name).tags(tags).counter().count();
	}

	@Test
	void aRangeIsUnderWayUntilItIsOverAndCountsAsWhatBecameOfIt() {
		this.events.began(RangeScope.CLUSTER);
		this.events.began(RangeScope.NODE);
		assertThat(this.all.get("kvorum.range.active").gauge().value()).isEqualTo(2);
		this.events.ended(RangeScope.CLUSTER, RangeOutcome.BROKEN, 5_000_000);

		assertThat(this.all.get("kvorum.range.active").gauge().value()).isEqualTo(1);
		assertThat(this.all.get("kvorum.range.requests")
			.tags("scope", "cluster", "outcome", "broken")
			.timer()
			.totalTime(TimeUnit.MILLISECONDS)).isEqualTo(5);
		assertThat(this.all.get("kvorum.range.requests").timers().stream().mapToLong(timer -> timer.count()).sum())
			.isEqualTo(1);
	}

	@Test
	void whatIsToldRefusedLostAndBackIsCounted() {
		this.events.returned(3, 100);
		this.events.returned(0, 0);
		this.events.returned(1, 5);
		this.events.refused(RangeScope.NODE);
		this.events.replicaLost();
		this.events.replicaLost();
		this.events.replicaBack();

		assertThat(counter("kvorum.range.entries")).isEqualTo(4);
		assertThat(counter("kvorum.range.size")).isEqualTo(105);
		assertThat(counter("kvorum.range.refused", "scope", "node")).isEqualTo(1);
		assertThat(counter("kvorum.range.refused", "scope", "cluster")).isZero();
		assertThat(counter("kvorum.range.replicas", "change", "lost")).isEqualTo(2);
		assertThat(counter("kvorum.range.replicas", "change", "back")).isEqualTo(1);
	}

}
