package io.kvorum.access;

import java.time.DateTimeException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A JSON value and its place in the file. Problems are reported by place, never by value,
 * which may be a secret.
 *
 * @param place such as {@code keys[0].rules}; empty for the file itself
 * @param problems of the whole file
 */
record CheckedNode(String place, JsonNode node, List<String> problems) {

	/** Limit of the reported problems; later ones are left out. */
	private static final int MAX_PROBLEMS = 50;

	/** Limit of the reported name of an unknown property, in characters. */
	private static final int MAX_NAME_LENGTH = 40;

	/** Adds a problem of this value. */
	void refuse(String rule) {
		if (this.problems.size() < MAX_PROBLEMS) {
			this.problems.add("%s: %s".formatted(this.place.isEmpty() ? "the file" : this.place, rule));
		}
	}

	boolean has(String property) {
		return this.node.has(property);
	}

	/** The value of a property; a missing one fits no type. */
	CheckedNode at(String property) {
		return new CheckedNode(this.place.isEmpty() ? property : this.place + "." + property, this.node.path(property),
				this.problems);
	}

	/**
	 * Whether this is an object. Refuses other types, and each property that is not
	 * known.
	 */
	boolean isObjectOf(Set<String> known) {
		if (!this.node.isObject()) {
			refuse("must be an object");
			return false;
		}
		this.node.propertyNames()
			.stream()
			.filter(name -> !known.contains(name))
			.forEach(name -> refuse("there is no property '%s'".formatted(printable(name))));
		return true;
	}

	private static String printable(String name) {
		String plain = name.replaceAll("[^\\x20-\\x7e]", "?");
		return plain.substring(0, Math.min(plain.length(), MAX_NAME_LENGTH));
	}

	/**
	 * The elements of a list of 1 to max. Refuses anything else and returns no elements.
	 */
	List<CheckedNode> elements(int max) {
		if (!this.node.isArray() || this.node.isEmpty() || this.node.size() > max) {
			refuse("must be a list of 1 to %d".formatted(max));
			return List.of();
		}
		return IntStream.range(0, this.node.size())
			.mapToObj(i -> new CheckedNode("%s[%d]".formatted(this.place, i), this.node.path(i), this.problems))
			.toList();
	}

	/**
	 * Parses a text. Refuses a value that is no text, or for which the parser returns
	 * null or throws.
	 */
	<T> @Nullable T parsed(Function<String, @Nullable T> parser, String rule) {
		try {
			T value = this.node.isString() ? parser.apply(this.node.asString()) : null;
			if (value != null) {
				return value;
			}
		}
		catch (IllegalArgumentException | DateTimeException | ArithmeticException _) {
			// refused below
		}
		refuse(rule);
		return null;
	}

	/** The value as a whole number from 1 to max. Refuses anything else and returns 1. */
	int count(int max) {
		if (this.node.isInt() && this.node.asInt() >= 1 && this.node.asInt() <= max) {
			return this.node.asInt();
		}
		refuse("must be a whole number from 1 to %d".formatted(max));
		return 1;
	}

	/** Refuses a value that was at another place before. */
	<T> void refuseRepeated(@Nullable T value, Map<T, String> places) {
		String first = (value != null) ? places.putIfAbsent(value, this.place) : null;
		if (first != null) {
			refuse("must not be that of " + first);
		}
	}

}
