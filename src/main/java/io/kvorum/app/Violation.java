package io.kvorum.app;

/**
 * An error in one property.
 *
 * @param name the name of the property
 * @param value the value as it was given
 * @param rule the rule for its value
 */
record Violation(String name, String value, String rule) {

	/** A placeholder for a value that must not be shown. */
	static final String HIDDEN = "(hidden)";

	@Override
	public String toString() {
		return "%s = %s: %s".formatted(this.name, this.value, this.rule);
	}

}
