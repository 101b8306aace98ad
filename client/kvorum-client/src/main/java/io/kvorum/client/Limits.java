package io.kvorum.client;

import java.time.Duration;

/**
 * Limits of operations.
 *
 * @param deadline of an operation with all its repeats
 * @param attempt the time limit of one request
 * @param attempts the most requests of an operation
 */
record Limits(Duration deadline, Duration attempt, int attempts) {

	private static final Duration LONGEST = Duration.ofDays(1);

	/** The duration, if it is one that can be waited for. */
	static Duration positive(String name, Duration duration) {
		if (duration.isNegative() || duration.isZero() || duration.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException("%s is more than 0 and at most 1 day, not %s".formatted(name, duration));
		}
		return duration;
	}

	/** The number, if it is at least 1. */
	static int positive(String name, int number) {
		if (number < 1) {
			throw new IllegalArgumentException(name + " is at least 1, not " + number);
		}
		return number;
	}

}
