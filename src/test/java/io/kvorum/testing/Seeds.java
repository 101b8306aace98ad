package io.kvorum.testing;

import java.util.stream.LongStream;

/** The seeds of {@link SeededTest}s. */
final class Seeds {

	private Seeds() {
	}

	static LongStream all() {
		Long asked = Long.getLong("kvorum.test.seed");
		return (asked != null) ? LongStream.of(asked) : LongStream.rangeClosed(1, 5);
	}

}
