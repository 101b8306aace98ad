package io.kvorum.client;

import org.jspecify.annotations.Nullable;

/**
 * What a request asks of the order of operations.
 *
 * @param level null for the default one
 * @param isEventual whether it does without an order, though the level has one
 */
record Consistency(@Nullable Level level, boolean isEventual) {

	static final Consistency DEFAULT = new Consistency(null, false);

	Consistency at(Level level) {
		return new Consistency(level, this.isEventual);
	}

	Consistency eventual() {
		return new Consistency(this.level, true);
	}

}
