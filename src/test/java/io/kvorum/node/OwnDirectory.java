package io.kvorum.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

/** Gives each node a new directory below target. */
class OwnDirectory implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		try {
			Path parent = Files.createDirectories(Path.of("target", "nodes"));
			String path = Files.createTempDirectory(parent, "node").toString();
			context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("own directory", Map.of("kvorum.storage.path", path)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
