package io.kvorum.transport;

import java.util.OptionalInt;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The versions of the replica protocol that a node speaks. Two nodes speak the newest
 * version that both know; see decision 33.
 *
 * @param oldest its first version
 * @param newest its last version, at least that
 */
record ProtocolRange(int oldest, int newest) {

	/** The form of a version that may be logged. */
	private static final Pattern A_VERSION = Pattern.compile("[1-9][0-9]{0,3}");

	ProtocolRange {
		if (oldest < 1 || newest < oldest) {
			throw new IllegalArgumentException("no range of versions: %d to %d".formatted(oldest, newest));
		}
	}

	/**
	 * The range that a node tells in its headers; null where they tell none.
	 * @param newest null from a node that knows one version only
	 */
	static @Nullable ProtocolRange of(@Nullable String oldest, @Nullable String newest) {
		String last = (newest != null) ? newest : oldest;
		if (oldest == null || last == null || !A_VERSION.matcher(oldest).matches() || !A_VERSION.matcher(last).matches()
				|| Integer.parseInt(last) < Integer.parseInt(oldest)) {
			return null;
		}
		return new ProtocolRange(Integer.parseInt(oldest), Integer.parseInt(last));
	}

	/** The newest version that is in both; empty where there is none. */
	OptionalInt common(ProtocolRange other) {
		int version = Math.min(this.newest, other.newest);
		return (version >= Math.max(this.oldest, other.oldest)) ? OptionalInt.of(version) : OptionalInt.empty();
	}

	boolean contains(int version) {
		return version >= this.oldest && version <= this.newest;
	}

	/** A description for people. */
	@Override
	public String toString() {
		return (this.oldest == this.newest) ? "version " + this.oldest
				: "versions %d to %d".formatted(this.oldest, this.newest);
	}

}
