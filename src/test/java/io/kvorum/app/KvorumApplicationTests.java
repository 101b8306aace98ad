package io.kvorum.app;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class KvorumApplicationTests {

	/** Where spring.config.location names other files, Spring does not read that one. */
	@Test
	void theDefaultsAreThoseOfTheFileInTheJarAndSizesByMemory() {
		assertThat(KvorumApplication.defaults()).containsEntry("management.endpoints.access.default", "read-only")
			.containsEntry("management.endpoint.health.group.readiness.include", "readinessState, storage, cluster")
			.containsEntry("server.forward-headers-strategy", "none")
			.containsKey("kvorum.storage.cache-size");
	}

}
