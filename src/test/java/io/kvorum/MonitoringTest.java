package io.kvorum;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.kvorum.testing.monitoring.Monitoring;
import io.kvorum.testing.monitoring.PromQl.Condition;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static io.kvorum.testing.monitoring.Monitoring.list;
import static io.kvorum.testing.monitoring.Monitoring.map;
import static io.kvorum.testing.monitoring.Monitoring.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * That dashboard, alerts, their tests and the runbook belong together. What they read is
 * the business of MonitoringIT, how alerts behave that of promtool.
 */
class MonitoringTest {

	private static final Path GUIDE = Path.of("src", "docs", "operations.md");

	private static final Path METERS = Path.of("src", "docs", "metrics.md");

	private static final Pattern ALERT = Pattern.compile("Kvorum[A-Z]\\w+");

	private static final Pattern VARIABLE = Pattern.compile("\\$(?:\\{(\\w+)}|(\\w+))");

	/** The dashboard's grid. */
	private static final int COLUMNS = 24;

	@Test
	void everyAlertHasAnEntryInTheRunbookAndEveryEntryAnAlert() throws IOException {
		assertThat(alertNames()).isNotEmpty();
		assertThat(runbookEntries()).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(alertNames());
	}

	/** Those about meters of other programs have no place there. */
	@Test
	void theTablesOfMetersNameTheAlertsThatReadThem() throws IOException {
		Set<String> named = ALERT.matcher(Files.readString(METERS))
			.results()
			.map(MatchResult::group)
			.collect(Collectors.toSet());

		assertThat(alertNames()).containsAll(named);
		assertThat(named).containsAll(alerts().stream()
			.filter(alert -> text(alert, "expr").contains("kvorum_"))
			.map(alert -> text(alert, "alert"))
			.toList());
	}

	@Test
	void everyAlertSaysHowUrgentItIsWhatItIsAboutAndWhereToReadOn() {
		assertThat(alerts()).allSatisfy(alert -> {
			assertThat(severityOf(alert)).isIn("critical", "warning");
			Map<?, ?> annotations = map(alert, "annotations");
			assertThat(text(annotations, "summary")).contains("{{ $labels.");
			assertThat(text(annotations, "description")).contains("{{ $");
			assertThat(text(annotations, "runbook_url"))
				.isEqualTo("https://kvorum.example/operations.md#" + text(alert, "alert").toLowerCase(Locale.ROOT));
		});
	}

	@Test
	void everyAlertFiresInATestOfItsOwn() {
		Set<String> fired = new HashSet<>();
		for (Map<?, ?> test : Monitoring.tests()) {
			for (Map<?, ?> check : list(test, "alert_rule_test")) {
				list(check, "exp_alerts").forEach(expected -> fired
					.add(text(check, "alertname") + " " + text(map(expected, "exp_labels"), "severity")));
			}
		}
		assertThat(fired).containsExactlyInAnyOrderElementsOf(alerts().stream()
			.map(alert -> text(alert, "alert") + " " + severityOf(alert))
			.collect(Collectors.toSet()));
	}

	@Test
	void everyPanelSaysWhatItShowsInWhichUnitAndNamesItsLines() {
		assertThat(Monitoring.panels()).isNotEmpty().allSatisfy(panel -> {
			assertThat(text(panel, "title")).isNotEmpty();
			assertThat(text(panel, "description")).as(text(panel, "title")).endsWith(".");
			assertThat(panel.at("/fieldConfig/defaults/unit").asString("")).as(text(panel, "title")).isNotEmpty();
			assertThat(panel.at("/datasource/uid").asString("")).isEqualTo("${datasource}");
			assertThat(panel.get("targets")).isNotEmpty().allSatisfy(target -> {
				assertThat(text(target, "legendFormat")).isNotEmpty();
				assertThat(Monitoring.expression(panel, target).read().selectors())
					.allSatisfy(selector -> assertThat(selector.conditions())
						.contains(new Condition("job", "=~", "$job"), new Condition("instance", "=~", "$instance")));
			});
			assertThat(panel.get("targets").valueStream().map(target -> text(target, "refId"))).doesNotHaveDuplicates();
		});
	}

	/**
	 * "All" is what the query of the variable finds, and no service of another kind. A
	 * target without a namespace has an empty one.
	 */
	@Test
	void bothDashboardsShowTheirOwnJobsAndOneNamespaceWhereThereAreMore() {
		for (JsonNode dashboard : List.of(Monitoring.dashboard(), Monitoring.dashboardOfGateways())) {
			assertThat(text(variable(dashboard, "namespace"), "allValue")).isEqualTo(".*");
			assertThat(variable(dashboard, "job").has("allValue")).isFalse();
			assertThat(text(variable(dashboard, "job"), "query")).contains("namespace=~'$namespace'");
			assertThat(text(variable(dashboard, "instance"), "query")).contains("job=~'$job',namespace=~'$namespace'");
			assertThat(Monitoring.panels(dashboard)).allSatisfy(panel -> assertThat(panel.get("targets"))
				.allSatisfy(target -> assertThat(Monitoring.expression(panel, target).read().selectors()).allSatisfy(
						selector -> assertThat(selector.conditions()).contains(new Condition("job", "=~", "$job"),
								new Condition("namespace", "=~", "$namespace"),
								new Condition("instance", "=~", "$instance")))));
		}
	}

	@Test
	void panelsHaveNumbersOfTheirOwnAndDoNotOverlap() {
		List<Integer> ids = new ArrayList<>();
		Set<List<Integer>> taken = new HashSet<>();
		for (JsonNode panel : Monitoring.dashboard().get("panels")) {
			ids.add(panel.get("id").asInt());
			JsonNode place = panel.get("gridPos");
			assertThat(place.get("x").asInt() + place.get("w").asInt()).isLessThanOrEqualTo(COLUMNS);
			for (int x = 0; x < place.get("w").asInt(); x++) {
				for (int y = 0; y < place.get("h").asInt(); y++) {
					assertThat(taken.add(List.of(place.get("x").asInt() + x, place.get("y").asInt() + y)))
						.as("%s has a place of its own", text(panel, "title"))
						.isTrue();
				}
			}
		}
		assertThat(ids).doesNotHaveDuplicates();
	}

	@Test
	void theVariablesThatAreUsedAreThere() {
		Set<String> used = new TreeSet<>();
		Matcher matcher = VARIABLE.matcher(Monitoring.dashboard().toString());
		while (matcher.find()) {
			String name = (matcher.group(1) != null) ? matcher.group(1) : matcher.group(2);
			if (!name.startsWith("__")) {
				used.add(name);
			}
		}
		assertThat(used).containsExactlyInAnyOrderElementsOf(Monitoring.dashboard()
			.at("/templating/list")
			.valueStream()
			.map(variable -> text(variable, "name"))
			.toList());
	}

	private static JsonNode variable(JsonNode dashboard, String name) {
		return dashboard.at("/templating/list")
			.valueStream()
			.filter(variable -> text(variable, "name").equals(name))
			.findFirst()
			.orElseThrow(() -> new AssertionError("There is no variable " + name));
	}

	private static List<Map<?, ?>> alerts() {
		return Monitoring.rules().stream().filter(rule -> rule.containsKey("alert")).toList();
	}

	private static Set<String> alertNames() {
		return alerts().stream().map(alert -> text(alert, "alert")).collect(Collectors.toSet());
	}

	private static String severityOf(Map<?, ?> alert) {
		return text(map(alert, "labels"), "severity");
	}

	/** The headings below that of the runbook. */
	private static List<String> runbookEntries() throws IOException {
		List<String> entries = new ArrayList<>();
		boolean inRunbook = false;
		for (String line : Files.readAllLines(GUIDE)) {
			if (line.startsWith("## ")) {
				inRunbook = line.equals("## Runbook");
			}
			else if (inRunbook && line.startsWith("### ")) {
				entries.add(line.substring("### ".length()));
			}
		}
		return entries;
	}

}
