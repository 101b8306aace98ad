package io.kvorum.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** What wins over what in the configuration of a pod: that of {@code k8s/base}. */
class KubernetesConfigurationTest {

	private static final String PATH = "kvorum.storage.path";

	private static final String CONNECTIONS = "kvorum.api.max-connections";

	@TempDir
	private Path directory;

	@BeforeEach
	void mount() throws IOException {
		write("application.yml", Files.readString(Path.of("k8s", "base", "application.yml"))
			.replace("/etc/kvorum", "" + this.directory));
		write("cluster.yml", "kvorum.api.max-connections: 1");
		write("nodes/kvorum-0.yml", "kvorum: {api: {max-connections: 2}, storage: {path: /var/lib/kvorum/data-2}}");
	}

	@Test
	void theFileOfANodeWinsOverWhatAllNodesHave() {
		Binder node = binder(Map.of("POD_NAME", "kvorum-0"));
		assertThat(node.bind(CONNECTIONS, String.class).get()).isEqualTo("2");
		assertThat(node.bind(PATH, String.class).get()).isEqualTo("/var/lib/kvorum/data-2");
	}

	@Test
	void itIsOfThatNodeAlone() {
		Binder other = binder(Map.of("POD_NAME", "kvorum-1"));
		assertThat(other.bind(CONNECTIONS, String.class).get()).isEqualTo("1");
		assertThat(other.bind(PATH, String.class).get()).isEqualTo("/var/lib/kvorum/data");
	}

	@Test
	void theEnvironmentWinsOverIt() {
		Binder node = binder(Map.of("POD_NAME", "kvorum-0", "KVORUM_API_MAXCONNECTIONS", "3"));
		assertThat(node.bind(CONNECTIONS, String.class).get()).isEqualTo("3");
	}

	/** Spring Boot looks into the directories below config, too. */
	@Test
	void aNodeThatIsStartedInACheckoutReadsNoneOfIt() throws IOException {
		try (Stream<Path> files = Files.walk(Path.of("config"))) {
			assertThat(files).isNotEmpty().noneMatch(file -> file.getFileName().toString().startsWith("application"));
		}
	}

	/** As a node reads its configuration, before anything else. */
	private Binder binder(Map<String, Object> variables) {
		Map<String, Object> all = new HashMap<>(variables);
		all.put("SPRING_CONFIG_LOCATION", "file:" + this.directory + "/");
		StandardEnvironment environment = new StandardEnvironment();
		String name = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
		environment.getPropertySources().replace(name, new SystemEnvironmentPropertySource(name, all));
		ConfigurationPropertySources.attach(environment);
		ConfigDataEnvironmentPostProcessor.applyTo(environment);
		return Binder.get(environment);
	}

	private void write(String file, String text) throws IOException {
		Path path = this.directory.resolve(file);
		Files.createDirectories(path.getParent());
		Files.writeString(path, text);
	}

}
