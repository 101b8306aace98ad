package io.kvorum.client;

import org.jspecify.annotations.Nullable;

/**
 * The write that a value is from. Each write has another one.
 * <p>
 * Versions of a key that is written only with conditions become greater with every write,
 * which makes those of a lock fencing tokens.
 *
 * @param text the ETag without its quotes; opaque, and compared as text
 */
public record Version(String text) implements Comparable<Version> {

	/**
	 * A version that was kept as text.
	 * @throws IllegalArgumentException if the text is empty, or has other characters than
	 * visible ones of ASCII, or quotes
	 */
	public Version {
		if (!isVisibleAscii(text)) {
			throw new IllegalArgumentException("a version is visible ASCII without quotes, not \"%s\"".formatted(text));
		}
	}

	private static boolean isVisibleAscii(String text) {
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c <= ' ' || c >= 0x7F || c == '"') {
				return false;
			}
		}
		return !text.isEmpty();
	}

	/** The version in an ETag with its quotes; null if it is none of Kvorum. */
	static @Nullable Version orNull(String etag) {
		int last = etag.length() - 1;
		if (last < 2 || etag.charAt(0) != '"' || etag.charAt(last) != '"') {
			return null;
		}
		String text = etag.substring(1, last);
		return isVisibleAscii(text) ? new Version(text) : null;
	}

	/** The ETag of a condition. */
	String etag() {
		return '"' + this.text + '"';
	}

	@Override
	public int compareTo(Version other) {
		return this.text.compareTo(other.text);
	}

	@Override
	public String toString() {
		return this.text;
	}

}
