package io.kvorum.app;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** That editors can complete and explain every property of a node. */
class ConfigurationMetadataTest {

	/**
	 * What is not given makes a cluster of one, that does not change and needs no keys.
	 */
	private static final Set<String> WITHOUT_DEFAULT = Set.of("kvorum.cluster.self", "kvorum.cluster.nodes",
			"kvorum.cluster.secret", "kvorum.cluster.ssl.bundle", "kvorum.access.keys-file", "kvorum.console.enabled",
			"kvorum.api.slow-request-time", "kvorum.storage.memtable-size", "kvorum.backup.directory",
			"kvorum.backup.restore-from", "kvorum.takeover.from", "kvorum.takeover.api-key");

	/** A row of the table of properties: the name and the default. */
	private static final Pattern ROW = Pattern.compile("(?m)^\\| `(kvorum\\.[^`]+)` \\| (`[^`]*`|none) \\|");

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

	@Test
	void theDocumentHasThemAllWithTheirDefaults() throws IOException {
		Map<String, String> told = new TreeMap<>();
		ROW.matcher(Files.readString(Path.of("src", "docs", "configuration.md")))
			.results()
			.forEach(row -> assertThat(told.put(row.group(1), row.group(2))).as(row.group()).isNull());

		Map<String, String> known = new TreeMap<>();
		this.properties.forEach(property -> known.put(property.get("name").asString(), toldDefault(property)));
		assertThat(told).isEqualTo(known);
	}

	private static String toldDefault(JsonNode property) {
		return WITHOUT_DEFAULT.contains(property.get("name").asString()) ? "none"
				: "`" + property.path("defaultValue").asString("") + "`";
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
