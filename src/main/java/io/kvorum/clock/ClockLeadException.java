package io.kvorum.clock;

/**
 * Reports that a version would lie too far ahead of this node's clock: one of the clocks
 * is wrong, or was. Nothing has happened.
 */
public final class ClockLeadException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private ClockLeadException(String message) {
		super(message, null, false, false);
	}

	/** A version that was seen is too far ahead to be followed. */
	static ClockLeadException ofSeen(long leadMillis) {
		return new ClockLeadException(
				"the newest version of the key is %d ms ahead of this node's clock, the limit is %d ms: set the clocks"
					.formatted(leadMillis, HybridLogicalClock.MAX_LEAD_MILLIS));
	}

	/** The versions of this node itself are too far ahead for others to take them. */
	static ClockLeadException ofOwn(long leadMillis) {
		return new ClockLeadException(
				"the versions of this node are %d ms ahead of its clock, the limit is %d ms: its clock is behind now, or was ahead before; set it, send writes to another node, or wait until the clock has caught up"
					.formatted(leadMillis, HybridLogicalClock.MAX_LEAD_MILLIS));
	}

}
