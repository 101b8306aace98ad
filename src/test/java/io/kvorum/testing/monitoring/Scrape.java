package io.kvorum.testing.monitoring;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.kvorum.testing.monitoring.PromQl.Condition;
import io.kvorum.testing.monitoring.PromQl.Grouping;
import io.kvorum.testing.monitoring.PromQl.Selector;

/** What a node told Prometheus. */
public final class Scrape {

	private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

	/** Given by Prometheus to all that it reads from a target. */
	private static final Set<String> OF_TARGETS = Set.of("job", "instance", "namespace");

	/** The values that each label of a metric has. */
	private final Map<String, Map<String, Set<String>>> metrics = new HashMap<>();

	private final Map<String, Set<String>> rare;

	/**
	 * The text that a node gives.
	 * @param rare values of labels, by label, that need not be there: those of what
	 * seldom happens
	 */
	public Scrape(String text, Map<String, Set<String>> rare) {
		this.rare = rare;
		text.lines().filter(line -> !line.startsWith("#")).forEach(this::add);
	}

	private void add(String line) {
		String metric = line.substring(0, line.indexOf(line.contains("{") ? '{' : ' '));
		Map<String, Set<String>> labels = this.metrics.computeIfAbsent(metric, _ -> new HashMap<>());
		Matcher matcher = LABEL.matcher(line);
		while (matcher.find()) {
			labels.computeIfAbsent(matcher.group(1), _ -> new HashSet<>()).add(matcher.group(2));
		}
	}

	/**
	 * What an expression reads and this is without; in words, none where all is there.
	 */
	public List<String> lacks(PromQl expression) {
		List<String> lacking = new ArrayList<>();
		expression.selectors().forEach(selector -> select(selector, lacking));
		expression.groupings().forEach(grouping -> group(grouping, lacking));
		return lacking;
	}

	private void select(Selector selector, List<String> lacking) {
		Map<String, Set<String>> labels = this.metrics.get(selector.metric());
		if (labels == null) {
			lacking.add("there is no " + selector.metric());
			return;
		}
		for (Condition condition : selector.conditions()) {
			String label = condition.label();
			if (OF_TARGETS.contains(label)) {
				continue;
			}
			if (!labels.containsKey(label)) {
				lacking.add("%s has no label %s".formatted(selector.metric(), label));
			}
			else if (!isKnown(condition, labels.getOrDefault(label, Set.of()))) {
				lacking.add("%s has no %s that is %s".formatted(selector.metric(), label, condition.value()));
			}
		}
	}

	/** A value that is not wanted has to be known as well: or nothing is left out. */
	private boolean isKnown(Condition condition, Set<String> values) {
		return values.stream().anyMatch(condition::isAbout)
				|| this.rare.getOrDefault(condition.label(), Set.of()).stream().anyMatch(condition::isAbout);
	}

	private void group(Grouping grouping, List<String> lacking) {
		for (Selector selector : grouping.of()) {
			Map<String, Set<String>> labels = this.metrics.getOrDefault(selector.metric(), Map.of());
			grouping.labels()
				.stream()
				.filter(label -> !OF_TARGETS.contains(label) && !labels.containsKey(label))
				.forEach(label -> lacking.add("%s has no label %s to group by".formatted(selector.metric(), label)));
		}
	}

}
