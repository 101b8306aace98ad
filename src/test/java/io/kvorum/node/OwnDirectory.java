package io.kvorum.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Gives each node in this JVM that names no directory a new one below target, so that
 * none opens {@code ./data}, the user's. It is registered in spring.factories, where no
 * annotation of a test replaces it.
 */
class OwnDirectory implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	private static final String PATH = "kvorum.storage.path";

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		ConfigurableEnvironment environment = context.getEnvironment();
		if (!environment.containsProperty(PATH)) {
			environment.getPropertySources().addLast(new MapPropertySource("own directory", Map.of(PATH, create())));
		}
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
