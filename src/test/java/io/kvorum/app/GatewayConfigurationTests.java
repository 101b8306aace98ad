package io.kvorum.app;

import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.DriverExecutionProfile;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class GatewayConfigurationTests {

	@Test
	void whatIsTakenOverAtATimeFitsIntoTheHeap() {
		assertThat(GatewayConfiguration.answerBytes(128L << 20)).as("one large value").isEqualTo(17 << 20);
		assertThat(GatewayConfiguration.answerBytes(256L << 20)).isEqualTo(32 << 20);
		assertThat(GatewayConfiguration.answerBytes(8L << 30)).isEqualTo(65 << 20);
	}

	/** Otherwise the gateway would connect to this machine, and never look again. */
	@Test
	void theNamesOfContactPointsAreLookedUpAtEachAttempt() {
		ProgrammaticDriverConfigLoaderBuilder builder = DriverConfigLoader.programmaticBuilder();
		new GatewayConfiguration().driverDefaults().customize(builder);
		try (DriverConfigLoader loader = builder.build()) {
			DriverExecutionProfile profile = loader.getInitialConfig().getDefaultProfile();
			assertThat(profile.getBoolean(DefaultDriverOption.RESOLVE_CONTACT_POINTS)).isFalse();
			assertThat(profile.getBoolean(DefaultDriverOption.RECONNECT_ON_INIT)).isTrue();
		}
	}

}
