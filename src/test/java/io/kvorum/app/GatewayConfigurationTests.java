package io.kvorum.app;

import java.util.List;

import io.kvorum.cassandra.UnknownContactPointsException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class GatewayConfigurationTests {

	@Test
	void whatIsTakenOverAtATimeFitsIntoTheHeap() {
		assertThat(GatewayConfiguration.answerBytes(128L << 20)).as("one large value").isEqualTo(17 << 20);
		assertThat(GatewayConfiguration.answerBytes(256L << 20)).isEqualTo(32 << 20);
		assertThat(GatewayConfiguration.answerBytes(8L << 30)).isEqualTo(65 << 20);
	}

	/** Otherwise the driver would connect to this machine, and never look again. */
	@Test
	void oneOfTheContactPointsMustHaveAnAddress() {
		assertThatExceptionOfType(UnknownContactPointsException.class)
			.isThrownBy(
					() -> GatewayConfiguration.requireOneAddress(List.of("nowhere.invalid:9042", "elsewhere.invalid")))
			.withMessageContaining("nowhere.invalid:9042");
		GatewayConfiguration.requireOneAddress(List.of("nowhere.invalid:9042", "127.0.0.1:9042"));
		GatewayConfiguration.requireOneAddress(List.of("[::1]:9042"));
		GatewayConfiguration.requireOneAddress(List.of("localhost"));
		GatewayConfiguration.requireOneAddress(List.of());
	}

}
