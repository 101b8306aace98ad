package io.kvorum.api;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** The description of the API has what the code has, and nothing else. */
class DescriptionTests {

	private static final Path SOURCES = Path.of("src/main/java/io/kvorum");

	private static final Path REFERENCE = Path.of("src/docs/http-api.md");

	/** Kinds that no answer of a described operation has. */
	private static final Set<String> ELSEWHERE = Set.of("method-not-allowed", "no-such-endpoint");

	private static final Pattern REFUSAL = Pattern.compile("\\((\\d{3}), \"([a-z-]+)\"");

	private static final Pattern PARAMETER = Pattern.compile("query\\.(?:bytes|text)\\(\"(\\w+)\"\\)");

	private static final Pattern ANCHOR = Pattern.compile("<a id=\"([a-z-]+)\"></a>`\\1` \\| ([0-9, ]+) \\|");

	private final JsonNode description = description();

	private static JsonNode description() {
		try {
			Object yaml = new Yaml().load(Files.readString(Path.of("src/main/resources/openapi.yaml")));
			return new JsonMapper().valueToTree(yaml);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	/** The statuses of all kinds of problems, by their names. */
	private static Map<String, Set<Integer>> kinds() throws IOException {
		Map<String, Set<Integer>> kinds = new HashMap<>();
		for (ProblemType type : ProblemType.values()) {
			kinds.computeIfAbsent(name(type.uri()), _ -> new TreeSet<>()).add(type.status());
		}
		for (MatchResult refusal : found(REFUSAL, SOURCES.resolve("wire/Refusal.java"))) {
			kinds.computeIfAbsent(refusal.group(2), _ -> new TreeSet<>()).add(Integer.valueOf(refusal.group(1)));
		}
		assertThat(kinds).hasSizeGreaterThan(40).containsKeys("missing-id", "malformed-request");
		return kinds;
	}

	private static List<MatchResult> found(Pattern pattern, Path file) throws IOException {
		return pattern.matcher(Files.readString(file)).results().toList();
	}

	private static String name(String uri) {
		return uri.substring(uri.lastIndexOf(':') + 1);
	}

	/** What a reference within the description leads to. */
	private JsonNode target(JsonNode reference) {
		String path = reference.path("$ref").asString();
		JsonNode target = this.description.at(path.substring(1));
		assertThat(target.isObject()).as(path).isTrue();
		return target;
	}

	@Test
	void eachKindOfProblemHasAnExampleWithItsStatus() throws IOException {
		Map<String, Set<Integer>> described = new HashMap<>();
		for (JsonNode example : this.description.at("/components/examples")) {
			JsonNode value = example.path("value");
			described.computeIfAbsent(name(value.path("type").asString()), _ -> new TreeSet<>())
				.add(value.path("status").asInt());
		}
		Map<String, Set<Integer>> kinds = kinds();
		kinds.keySet().removeAll(ELSEWHERE);
		assertThat(described).isEqualTo(kinds);
	}

	@Test
	void eachExampleIsOfAnAnswerWithItsStatus() {
		Set<JsonNode> used = new HashSet<>();
		for (JsonNode path : this.description.path("paths")) {
			for (JsonNode operation : path) {
				operation.path("responses").properties().forEach(response -> {
					JsonNode answer = response.getValue().has("$ref") ? target(response.getValue())
							: response.getValue();
					for (JsonNode reference : answer.path("content").path(Problem.MEDIA_TYPE).path("examples")) {
						JsonNode example = target(reference);
						used.add(example);
						assertThat(example.at("/value/status").asString()).as(reference.toString())
							.isEqualTo(response.getKey());
					}
				});
			}
		}
		assertThat(used).containsExactlyInAnyOrderElementsOf(this.description.at("/components/examples").values());
	}

	@Test
	void eachKindOfProblemHasItsParagraph() throws IOException {
		Map<String, Set<Integer>> paragraphs = found(ANCHOR, REFERENCE).stream()
			.collect(Collectors.toMap(anchor -> anchor.group(1),
					anchor -> Stream.of(anchor.group(2).split(", ", -1))
						.map(Integer::valueOf)
						.collect(Collectors.toCollection(TreeSet::new))));
		assertThat(paragraphs).isEqualTo(kinds());
	}

	@Test
	void theParametersAreThoseThatAreRead() throws IOException {
		assertThat(parameters("/v0/entity"))
			.containsExactlyInAnyOrderElementsOf(read(SOURCES.resolve("api/EntityRequest.java")));
		assertThat(parameters("/v0/entities"))
			.containsExactlyInAnyOrderElementsOf(read(SOURCES.resolve("api/RangeRequest.java")));
	}

	private static Set<String> read(Path file) throws IOException {
		Set<String> read = found(PARAMETER, file).stream()
			.map(parameter -> parameter.group(1))
			.collect(Collectors.toSet());
		assertThat(read).hasSizeGreaterThan(4);
		return read;
	}

	/** The parameters in the query of all operations of a path. */
	private Set<String> parameters(String path) {
		Set<String> names = new HashSet<>();
		JsonNode described = this.description.path("paths").path(path);
		Stream.concat(Stream.of(described), described.valueStream())
			.flatMap(it -> it.path("parameters").valueStream())
			.map(this::target)
			.filter(parameter -> parameter.path("in").asString().equals("query"))
			.forEach(parameter -> names.add(parameter.path("name").asString()));
		return names;
	}

}
