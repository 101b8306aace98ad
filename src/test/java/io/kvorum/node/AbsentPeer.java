package io.kvorum.node;

import java.util.Map;

import io.kvorum.testing.Ports;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

/**
 * Makes a node one of two, the other of which is not there and is not waited for.
 */
class AbsentPeer implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		String self = freeAddress();
		context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("absent peer", Map.of("kvorum.cluster.self", self, "kvorum.cluster.nodes",
					self + "," + freeAddress(), "kvorum.cluster.accept-loss", "true")));
	}

	private static String freeAddress() {
		return "http://127.0.0.1:" + Ports.free();
	}

}
