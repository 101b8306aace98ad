package io.kvorum.app;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** That editors can complete and explain every property of a node. */
class ConfigurationMetadataTest {

	/** What is not given here makes a cluster of one. */
	private static final Set<String> WITHOUT_DEFAULT = Set.of("kvorum.cluster.self", "kvorum.cluster.nodes",
			"kvorum.cluster.secret", "kvorum.cluster.ssl.bundle", "kvorum.access.keys-file", "kvorum.backup.directory",
			"kvorum.backup.restore-from");

	private final List<JsonNode> properties = read();

	@Test
	void everyPropertyHasMetadata() {
		assertThat(this.properties).extracting(property -> property.get("name").asString())
			.containsExactlyInAnyOrderElementsOf(names("kvorum", KvorumProperties.class).toList());
	}

	@Test
	void everyPropertyHasADescriptionAndATypeAndADefault() {
		assertThat(this.properties).isNotEmpty().allSatisfy(property -> {
			assertThat(property.path("description").asString("")).isNotBlank();
			assertThat(property.path("type").asString("")).isNotBlank();
			if (!WITHOUT_DEFAULT.contains(property.get("name").asString())) {
				assertThat(property.path("defaultValue").asString("")).isNotBlank();
			}
		});
	}

	private static Stream<String> names(String prefix, Class<?> type) {
		return Arrays.stream(type.getRecordComponents()).flatMap(component -> {
			String name = prefix + "." + DataObjectPropertyName.toDashedForm(component.getName());
			return component.getType().isRecord() ? names(name, component.getType()) : Stream.of(name);
		});
	}

	private static List<JsonNode> read() {
		List<JsonNode> properties = new ArrayList<>();
		try {
			for (URL file : Collections.list(ConfigurationMetadataTest.class.getClassLoader()
				.getResources("META-INF/spring-configuration-metadata.json"))) {
				try (InputStream json = file.openStream()) {
					JsonMapper.shared().readTree(json).path("properties").forEach(properties::add);
				}
			}
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
		properties.removeIf(property -> !property.get("name").asString().startsWith("kvorum."));
		return properties;
	}

}
