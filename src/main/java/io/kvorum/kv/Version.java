package io.kvorum.kv;

import java.util.HexFormat;

/**
 * The version of an entry: a hybrid logical timestamp and the node that gave it, compared
 * in this order. One write has one version, given once by its coordinator; two entries of
 * a key with the same version are the same entry.
 *
 * @param timestamp milliseconds since 1970 in the upper 48 bits, a counter in the lower
 * 16, as one unsigned number
 * @param node the node that gave the version
 */
public record Version(long timestamp, long node) implements Comparable<Version> {

	/** The version of an absent entry: older than all others. */
	public static final Version ABSENT = new Version(0, 0);

	private static final HexFormat HEX = HexFormat.of();

	/** Bits of a timestamp that count within a millisecond. */
	public static final int COUNTER_BITS = 16;

	/** The greatest timestamp within a millisecond. */
	public static long lastTimestampOf(long millis) {
		return (millis << COUNTER_BITS) | ((1L << COUNTER_BITS) - 1);
	}

	/** The physical part of the timestamp: milliseconds since 1970. */
	public long millis() {
		return this.timestamp >>> COUNTER_BITS;
	}

	/** The form for clients, in ETag and elsewhere: opaque, always 32 digits. */
	public String toHex() {
		return HEX.toHexDigits(this.timestamp) + HEX.toHexDigits(this.node);
	}

	@Override
	public int compareTo(Version other) {
		int byTime = Long.compareUnsigned(this.timestamp, other.timestamp);
		return (byTime != 0) ? byTime : Long.compareUnsigned(this.node, other.node);
	}

	public boolean isNewerThan(Version other) {
		return compareTo(other) > 0;
	}

}
