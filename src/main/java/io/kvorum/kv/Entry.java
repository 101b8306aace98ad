package io.kvorum.kv;

/**
 * The entry of a key on a replica: a live value, or the tombstone of a deleted one.
 * <p>
 * {@code copies} is the number of replicas that hold it. Repair keeps that many, no more
 * and no fewer.
 */
public sealed interface Entry {

	/** The most copies of an entry. */
	int MAX_COPIES = 255;

	/** The longest content type, in bytes. */
	int MAX_CONTENT_TYPE_BYTES = 255;

	Version version();

	Copies copies();

	/** Whether a reader at this instant, in milliseconds since 1970, sees a value. */
	boolean isVisibleAt(long millis);

	/**
	 * A value.
	 *
	 * @param contentType ISO 8859-1, up to {@value Entry#MAX_CONTENT_TYPE_BYTES}
	 * characters
	 * @param expiresAtMillis the instant from which on the value is gone everywhere, in
	 * milliseconds since 1970; {@link #NEVER} if there is none
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

		/** A value of which there are so many copies, whatever the layout is. */
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

		/** A delete of which there are so many copies, whatever the layout is. */
		public Tombstone(Version version, int copies) {
			this(version, Copies.of(copies));
		}

		@Override
		public boolean isVisibleAt(long millis) {
			return false;
		}

	}

}
