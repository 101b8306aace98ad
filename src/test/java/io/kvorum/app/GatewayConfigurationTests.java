package io.kvorum.app;

import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.DriverExecutionProfile;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class GatewayConfigurationTests {

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
