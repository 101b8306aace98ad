package io.kvorum.wire;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class WireLimitsTests {

	@Test
	void theDefaultsLetAKeyOf1024EncodedBytesPass() {
		assertThat(WireLimits.defaults().maxInitialLineLength().toBytes()).isGreaterThan(1024 * 3 + 1024);
	}

	@Test
	void ticksDoNotCostAnIdleConnectionMuch() {
		assertThat(WireLimits.defaults().tick()).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void allViolationsAreNamedAtOnce() {
		Duration second = Duration.ofSeconds(1);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new WireLimits(0, DataSize.ofBytes(100), DataSize.ofKilobytes(16),
					DataSize.ofKilobytes(64), DataSize.ofMegabytes(4), Duration.ZERO, second, second.multipliedBy(2),
					second, second, second, second))
			.withMessage("Limits of the HTTP port: maxConnections = 0 must be at least 1; "
					+ "maxInitialLineLength = 100B must be from 4096B to 2147483647B; "
					+ "idleTimeout = PT0S must be at least 8ms; "
					+ "bodyTimeout = PT1S must not be shorter than bodyStallTimeout = PT2S");
	}

}
