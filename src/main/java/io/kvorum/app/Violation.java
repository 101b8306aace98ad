package io.kvorum.app;

/**
 * A property and the rule that it violates.
 *
 * @param name the name of the property
 * @param value the value as it was given
 * @param rule the rule for its value
 */
record Violation(String name, String value, String rule) {

	/** Replaces a secret value. */
	static final String HIDDEN = "(hidden)";

	@Override
	public String toString() {
		return "%s = %s: %s".formatted(this.name, this.value, this.rule);
	}

}
