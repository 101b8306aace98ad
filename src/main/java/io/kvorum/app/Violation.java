package io.kvorum.app;

/**
 * What is wrong with one property.
 *
 * @param name of the property
 * @param value as it was given
 * @param rule what is allowed instead
 */
record Violation(String name, String value, String rule) {

	/** Stands for a value that nobody may see. */
	static final String HIDDEN = "(hidden)";

	@Override
	public String toString() {
		return "%s = %s: %s".formatted(this.name, this.value, this.rule);
	}

}
