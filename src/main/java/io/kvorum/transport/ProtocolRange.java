package io.kvorum.transport;

import java.util.OptionalInt;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The versions of the replica protocol that a node speaks. Two nodes use the newest
 * version that both know (decision 33).
 *
 * @param oldest the first version, 1 or more
 * @param newest the last version, not below {@code oldest}
 */
record ProtocolRange(int oldest, int newest) {

	/** Form of a version that is safe to log: it comes from any client. */
	private static final Pattern A_VERSION = Pattern.compile("[1-9][0-9]{0,3}");

	ProtocolRange {
		if (oldest < 1 || newest < oldest) {
			throw new IllegalArgumentException("no range of versions: %d to %d".formatted(oldest, newest));
		}
	}

	/**
	 * The range in a node's headers; null if they hold none.
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

	/** The newest version in both ranges; empty if there is none. */
	OptionalInt common(ProtocolRange other) {
		int version = Math.min(this.newest, other.newest);
		return (version >= Math.max(this.oldest, other.oldest)) ? OptionalInt.of(version) : OptionalInt.empty();
	}

	boolean contains(int version) {
		return version >= this.oldest && version <= this.newest;
	}

	/** The range in words, for logs. */
	@Override
	public String toString() {
		return (this.oldest == this.newest) ? "version " + this.oldest
				: "versions %d to %d".formatted(this.oldest, this.newest);
	}

}
