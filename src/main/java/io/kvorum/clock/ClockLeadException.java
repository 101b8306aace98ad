package io.kvorum.clock;

/**
 * A version lies too far ahead of this node's clock to be followed: one of the clocks is
 * wrong. Nothing has happened.
 */
public final class ClockLeadException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ClockLeadException(long leadMillis) {
		super("the newest version of the key is %d ms ahead of this node's clock, the limit is %d ms: set the clocks"
			.formatted(leadMillis, HybridLogicalClock.MAX_LEAD_MILLIS), null, false, false);
	}

}
