package io.kvorum.kv;

/**
 * The record of a key on a replica: a live value or the tombstone of a deleted one.
 * <p>
 * Anti-entropy keeps it on as many replicas as {@link #copies()} says.
 */
public sealed interface Entry {

	/** The most copies of an entry. */
	int MAX_COPIES = 255;

	/** The longest content type, in bytes. */
	int MAX_CONTENT_TYPE_BYTES = 255;

	Version version();

	Copies copies();

	/** Whether a reader at this instant, in milliseconds since 1970, gets a value. */
	boolean isVisibleAt(long millis);

	/**
	 * A value.
	 *
	 * @param contentType ISO 8859-1, up to {@value Entry#MAX_CONTENT_TYPE_BYTES}
	 * characters
	 * @param expiresAtMillis the instant at which the value expires, in milliseconds
	 * since 1970; {@link #NEVER} if it does not
	 */
	record Live(Version version, Copies copies, long expiresAtMillis, String contentType,
			Value value) implements Entry {

		/** The expiry of an entry that does not expire. */
		public static final long NEVER = Long.MAX_VALUE;

		public Live {
			if (contentType.length() > MAX_CONTENT_TYPE_BYTES) {
				throw new IllegalArgumentException("a content type has up to %d characters, this one has %d"
					.formatted(MAX_CONTENT_TYPE_BYTES, contentType.length()));
			}
		}

		/** A value with this number of copies, whatever the default is. */
		public Live(Version version, int copies, long expiresAtMillis, String contentType, Value value) {
			this(version, Copies.of(copies), expiresAtMillis, contentType, value);
		}

		public boolean expires() {
			return this.expiresAtMillis != NEVER;
		}

		@Override
		public boolean isVisibleAt(long millis) {
			return millis < this.expiresAtMillis;
		}

	}

	/** A delete, kept so that no older value comes back. */
	record Tombstone(Version version, Copies copies) implements Entry {

		/** A delete with this number of copies, whatever the default is. */
		public Tombstone(Version version, int copies) {
			this(version, Copies.of(copies));
		}

		@Override
		public boolean isVisibleAt(long millis) {
			return false;
		}

	}

}
