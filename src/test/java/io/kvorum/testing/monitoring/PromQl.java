package io.kvorum.testing.monitoring;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an expression of Prometheus' language reads: metrics, the labels they are selected
 * by, and the labels they are grouped and joined by. Precedence does not matter for that,
 * and types are promtool's business.
 */
public final class PromQl {

	private static final Pattern TOKEN = Pattern.compile("""
			\\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<word>[a-zA-Z_:][\\w:]*)|(?<number>\\d[\\w.]*)\
			|(?<sign>=~|!~|!=|==|>=|<=|[-+*/%^(){}\\[\\],=<>:]))""");

	private static final Set<String> AGGREGATIONS = Set.of("sum", "min", "max", "avg", "count", "group", "topk",
			"bottomk", "quantile", "stddev", "stdvar", "count_values");

	private static final Set<String> SET_OPERATORS = Set.of("and", "or", "unless");

	private static final Set<String> OPERATORS = Set.of("+", "-", "*", "/", "%", "^", "==", "!=", ">", "<", ">=", "<=");

	private final List<Selector> selectors = new ArrayList<>();

	private final List<Grouping> groupings = new ArrayList<>();

	private final String text;

	private final List<String> tokens;

	private int at;

	private PromQl(String text) {
		this.text = text;
		this.tokens = tokensOf(text);
	}

	/**
	 * Reads an expression.
	 * @throws IllegalArgumentException if it is none
	 */
	public static PromQl of(String text) {
		PromQl read = new PromQl(text);
		read.expression();
		if (read.at < read.tokens.size()) {
			throw read.unexpected();
		}
		return read;
	}

	public List<Selector> selectors() {
		return List.copyOf(this.selectors);
	}

	public List<Grouping> groupings() {
		return List.copyOf(this.groupings);
	}

	/** The same, as if some of what it reads were not in it. */
	public PromQl without(Predicate<Selector> ignored) {
		PromQl other = new PromQl(this.text);
		this.selectors.stream().filter(ignored.negate()).forEach(other.selectors::add);
		this.groupings.stream()
			.map(grouping -> new Grouping(grouping.labels(), grouping.of().stream().filter(ignored.negate()).toList()))
			.forEach(other.groupings::add);
		return other;
	}

	/** Strings keep one quote in front, so that they are no other token. */
	private static List<String> tokensOf(String text) {
		List<String> tokens = new ArrayList<>();
		Matcher matcher = TOKEN.matcher(text);
		for (int end = 0; !text.substring(end).isBlank(); end = matcher.end()) {
			if (!matcher.region(end, text.length()).lookingAt()) {
				throw new IllegalArgumentException("No token: " + text.substring(end));
			}
			String string = (matcher.group("double") != null) ? matcher.group("double") : matcher.group("single");
			tokens.add((string != null) ? '"' + string : matcher.group().strip());
		}
		return tokens;
	}

	private void expression() {
		int first = this.selectors.size();
		operand();
		while (OPERATORS.contains(peek()) || SET_OPERATORS.contains(peek())) {
			next();
			skip("bool");
			List<String> joined = List.of();
			if (skip("on") || skip("ignoring")) {
				joined = labels();
			}
			if ((skip("group_left") || skip("group_right")) && peek().equals("(")) {
				labels();
			}
			operand();
			group(joined, first);
		}
	}

	private void operand() {
		skip("-");
		String token = next();
		if (token.equals("(")) {
			expression();
			expect(")");
		}
		else if (AGGREGATIONS.contains(token)) {
			aggregation();
		}
		else if (Character.isDigit(token.charAt(0)) || token.charAt(0) == '"') {
			return;
		}
		else if (peek().equals("(")) {
			arguments();
		}
		else {
			selector(token);
		}
		range();
	}

	private void aggregation() {
		int first = this.selectors.size();
		List<String> by = (skip("by") || skip("without")) ? labels() : List.of();
		arguments();
		group((skip("by") || skip("without")) ? labels() : by, first);
	}

	private void group(List<String> labels, int first) {
		if (!labels.isEmpty()) {
			this.groupings.add(new Grouping(labels, List.copyOf(this.selectors.subList(first, this.selectors.size()))));
		}
	}

	private void arguments() {
		expect("(");
		while (!skip(")")) {
			expression();
			skip(",");
		}
	}

	private List<String> labels() {
		List<String> labels = new ArrayList<>();
		expect("(");
		while (!skip(")")) {
			labels.add(next());
			skip(",");
		}
		return labels;
	}

	private void selector(String metric) {
		if (!metric.matches("[a-zA-Z_:][\\w:]*")) {
			throw unexpected();
		}
		List<Condition> conditions = new ArrayList<>();
		if (skip("{")) {
			while (!skip("}")) {
				conditions.add(new Condition(next(), next(), next().substring(1)));
				skip(",");
			}
		}
		this.selectors.add(new Selector(metric, conditions));
	}

	/** {@code [5m]}, {@code [1d:10m]}, {@code offset 1d}. */
	private void range() {
		if (skip("[")) {
			while (!skip("]")) {
				next();
			}
		}
		if (skip("offset")) {
			next();
		}
	}

	private String peek() {
		return (this.at < this.tokens.size()) ? this.tokens.get(this.at) : "";
	}

	private String next() {
		String token = peek();
		if (token.isEmpty()) {
			throw unexpected();
		}
		this.at++;
		return token;
	}

	private boolean skip(String token) {
		boolean there = peek().equals(token);
		this.at += there ? 1 : 0;
		return there;
	}

	private void expect(String token) {
		if (!skip(token)) {
			throw unexpected();
		}
	}

	private IllegalArgumentException unexpected() {
		return new IllegalArgumentException(
				"Unexpected \"%s\", token %d of %s".formatted(peek(), this.at + 1, this.text));
	}

	/** A metric, and what its labels have to be. */
	public record Selector(String metric, List<Condition> conditions) {
	}

	/** What a label has to be: {@code outcome!="reached"}. */
	public record Condition(String label, String operator, String value) {

		/** Whether a value is the one that is told of, wanted or not. */
		boolean isAbout(String other) {
			return this.operator.endsWith("~") ? other.matches(this.value) : other.equals(this.value);
		}

	}

	/** Labels by which what is selected is grouped or joined. */
	public record Grouping(List<String> labels, List<Selector> of) {
	}

}
