package io.kvorum.testing.monitoring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The files under {@code config} that watch a cluster. */
public final class Monitoring {

	private static final Path GATEWAYS = Path.of("config", "grafana", "kvorum-gateway.json");

	private static final Path DASHBOARD = Path.of("config", "grafana", "kvorum.json");

	private static final Path RULES = Path.of("config", "prometheus", "prometheus-rule.yaml");

	private static final List<Path> RULES_TESTS = List.of(Path.of("config", "prometheus", "kvorum-alerts-test.yml"),
			Path.of("config", "prometheus", "kvorum-alerts-hours-test.yml"));

	private Monitoring() {
	}

	public static JsonNode dashboard() {
		return JsonMapper.shared().readTree(read(DASHBOARD));
	}

	/** That of gateways to Cassandra. */
	public static JsonNode dashboardOfGateways() {
		return JsonMapper.shared().readTree(read(GATEWAYS));
	}

	/** Without the rows, which are headings. */
	public static List<JsonNode> panels() {
		return panels(dashboard());
	}

	/** Those of a dashboard without the rows. */
	public static List<JsonNode> panels(JsonNode dashboard) {
		return dashboard.get("panels").valueStream().filter(panel -> !"row".equals(text(panel, "type"))).toList();
	}

	/** Each with its {@code alert} or {@code record}, as the file has them. */
	public static List<Map<?, ?>> rules() {
		return list(map(yaml(RULES), "spec"), "groups").stream()
			.flatMap(group -> list(group, "rules").stream())
			.toList();
	}

	/** The groups of tests of the alerts. */
	public static List<Map<?, ?>> tests() {
		return RULES_TESTS.stream().<Map<?, ?>>flatMap(file -> list(yaml(file), "tests").stream()).toList();
	}

	/** All expressions, of the dashboard and of the rules. */
	public static List<Expression> expressions() {
		List<Expression> all = new ArrayList<>();
		for (JsonNode panel : panels()) {
			panel.get("targets").forEach(target -> all.add(expression(panel, target)));
		}
		dashboard().at("/annotations/list")
			.forEach(annotation -> all
				.add(new Expression("annotation " + text(annotation, "name"), text(annotation, "expr"))));
		dashboard().at("/templating/list")
			.valueStream()
			.filter(variable -> "query".equals(text(variable, "type")))
			.forEach(
					variable -> all.add(new Expression("variable " + text(variable, "name"), text(variable, "query"))));
		rules().forEach(rule -> all.add(new Expression("rule " + nameOf(rule), text(rule, "expr"))));
		return all;
	}

	public static Expression expression(JsonNode panel, JsonNode target) {
		return new Expression("panel " + text(panel, "title"), text(target, "expr"));
	}

	/** Of an alert, or of what is recorded. */
	public static String nameOf(Map<?, ?> rule) {
		return text(rule, rule.containsKey("alert") ? "alert" : "record");
	}

	public static String text(JsonNode node, String name) {
		return node.path(name).asString("");
	}

	public static String text(Map<?, ?> map, String name) {
		Object value = map.get(name);
		return (value != null) ? value.toString() : "";
	}

	/** A map in a map; an empty one where there is none. */
	public static Map<?, ?> map(Map<?, ?> map, String name) {
		return (map.get(name) instanceof Map<?, ?> inner) ? inner : Map.of();
	}

	/** A list of maps in a map; empty where there is none. */
	public static List<Map<?, ?>> list(Map<?, ?> map, String name) {
		List<Map<?, ?>> maps = new ArrayList<>();
		if (map.get(name) instanceof List<?> list) {
			list.forEach(item -> maps.add((Map<?, ?>) item));
		}
		return maps;
	}

	private static Map<?, ?> yaml(Path path) {
		return new Yaml().<Map<?, ?>>load(read(path));
	}

	private static String read(Path path) {
		try {
			return Files.readString(path);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * An expression as it is in a file.
	 *
	 * @param where what it belongs to
	 */
	public record Expression(String where, String text) {

		/** What it reads; variables of the dashboard have any value. */
		public PromQl read() {
			String query = this.text.replaceFirst("^label_values\\((.+), (\\w+)\\)$", "group by ($2) ($1)");
			return PromQl.of(query.replace("$__rate_interval", "5m"));
		}

	}

}
