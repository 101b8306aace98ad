package io.kvorum.clock;

/**
 * Reports that the clock has no version left up to its stored bound. Nothing has been
 * written; a retry succeeds once the bound is extended.
 */
public final class ClockBoundException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ClockBoundException(long boundMillis) {
		super("no version is left below the stored clock bound of %d ms".formatted(boundMillis), null, false, false);
	}

}
