package io.kvorum.observability;

import io.kvorum.testing.SteeredTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BackupMetersTests {

	private final SimpleMeterRegistry meterRegistry = new SimpleMeterRegistry();

	private final BackupMeters meters = new BackupMeters(this.meterRegistry, new SteeredTime());

	private double ageSeconds() {
		return this.meterRegistry.get("kvorum.backup.last.success").timeGauge().value();
	}

	@Test
	void theNewestBackupCountsAsLongAsThereIsOne() {
		assertThat(ageSeconds()).isNaN();
		this.meters.made(SteeredTime.START_MILLIS, 10, 1);
		assertThat(ageSeconds()).isZero();

		this.meters.found(SteeredTime.START_MILLIS - 5_000, 7);
		assertThat(ageSeconds()).isEqualTo(5);
		assertThat(this.meterRegistry.get("kvorum.backup.size").gauge().value()).isEqualTo(7);

		this.meters.foundNone();
		assertThat(ageSeconds()).isNaN();
		assertThat(this.meterRegistry.get("kvorum.backup.size").gauge().value()).isNaN();
	}

}
