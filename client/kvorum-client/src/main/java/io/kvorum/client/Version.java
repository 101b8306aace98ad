package io.kvorum.client;

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
	 * @throws IllegalArgumentException if the text is empty or has a quote in it
	 */
	public Version {
		if (text.isEmpty() || text.indexOf('"') >= 0) {
			throw new IllegalArgumentException("a version is not empty and has no quotes: " + text);
		}
	}

	/** The version in an ETag with its quotes. */
	static Version ofEtag(String etag) {
		if (etag.length() < 3 || etag.charAt(0) != '"' || etag.charAt(etag.length() - 1) != '"') {
			throw new IllegalArgumentException("no ETag of Kvorum: " + etag);
		}
		return new Version(etag.substring(1, etag.length() - 1));
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
