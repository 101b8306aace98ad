package io.kvorum.testing;

import java.util.stream.LongStream;

/** The seeds of {@link SeededTest}s. */
final class Seeds {

	/** Fewer where each costs starts of nodes. */
	private static final int COUNT = Integer.getInteger("kvorum.test.seeds", 5);

	private Seeds() {
	}

	static LongStream all() {
		Long asked = Long.getLong("kvorum.test.seed");
		return (asked != null) ? LongStream.of(asked) : LongStream.rangeClosed(1, COUNT);
	}

}
