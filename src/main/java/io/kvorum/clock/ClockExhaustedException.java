package io.kvorum.clock;

/**
 * The clock has no version left below its stored bound. Nothing has been written; the
 * caller may try again.
 */
public final class ClockExhaustedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ClockExhaustedException(long boundMillis) {
		super("no version is left below the stored clock bound of %d ms".formatted(boundMillis), null, false, false);
	}

}
