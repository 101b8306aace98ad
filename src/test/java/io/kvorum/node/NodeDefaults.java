package io.kvorum.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * What each node in this JVM has unless its test says otherwise. A new directory below
 * target, so that none opens {@code ./data}, the user's. And it stops at once, since all
 * tests together would wait for most of a minute. It is registered in spring.factories,
 * where no annotation of a test replaces it.
 */
class NodeDefaults implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	private static final String PATH = "kvorum.storage.path";

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		ConfigurableEnvironment environment = context.getEnvironment();
		Map<String, Object> defaults = new HashMap<>(Map.of("kvorum.api.drain-time", "0s"));
		if (!environment.containsProperty(PATH)) {
			defaults.put(PATH, create());
		}
		environment.getPropertySources().addLast(new MapPropertySource("defaults of tests", defaults));
	}

	private static String create() {
		try {
			Path parent = Files.createDirectories(Path.of("target", "nodes"));
			return Files.createTempDirectory(parent, "node").toString();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
