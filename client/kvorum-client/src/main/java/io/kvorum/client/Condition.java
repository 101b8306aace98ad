package io.kvorum.client;

import org.jspecify.annotations.Nullable;

/**
 * What a write needs to find, or else does nothing.
 *
 * @param version the value that has to be there; null for any
 * @param isAbsent whether there must be no value
 */
record Condition(@Nullable Version version, boolean isAbsent) {

	static final Condition ABSENT = new Condition(null, true);

	static final Condition PRESENT = new Condition(null, false);

	static Condition is(Version version) {
		return new Condition(version, false);
	}

	/** The header of a request. */
	String header() {
		return this.isAbsent ? "If-None-Match" : "If-Match";
	}

	String text() {
		return (this.version != null) ? this.version.etag() : "*";
	}

}
