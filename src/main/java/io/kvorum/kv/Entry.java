package io.kvorum.kv;

import org.jspecify.annotations.Nullable;

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

	/** The lineage of an entry that was stored under a ballot; null for any other. */
	@Nullable Lineage lineage();

	/**
	 * The version that its write was given first: which write it is. Clients see it as
	 * the ETag.
	 */
	default Version identity() {
		Lineage lineage = lineage();
		return (lineage != null) ? lineage.identity() : version();
	}

	/** The same content under a ballot, with this lineage. */
	Entry under(Version ballot, Lineage lineage);

	/** The same write, proposed again under a higher ballot. */
	default Entry again(Version ballot) {
		return under(ballot, Lineage.again(this));
	}

	/** Whether a reader at this instant, in milliseconds since 1970, gets a value. */
	boolean isVisibleAt(long millis);

	/**
	 * A value.
	 *
	 * @param contentType ISO 8859-1, up to {@value Entry#MAX_CONTENT_TYPE_BYTES}
	 * characters
	 * @param expiresAtMillis the instant at which the value expires, in milliseconds
	 * since 1970; {@link #NEVER} if it does not
	 * @param lineage see {@link Entry#lineage()}
	 */
	record Live(Version version, Copies copies, long expiresAtMillis, String contentType, Value value,
			@Nullable Lineage lineage) implements Entry {

		/** The expiry of an entry that does not expire. */
		public static final long NEVER = Long.MAX_VALUE;

		public Live {
			if (contentType.length() > MAX_CONTENT_TYPE_BYTES) {
				throw new IllegalArgumentException("a content type has up to %d characters, this one has %d"
					.formatted(MAX_CONTENT_TYPE_BYTES, contentType.length()));
			}
		}

		/** A value that was stored without a ballot. */
		public Live(Version version, Copies copies, long expiresAtMillis, String contentType, Value value) {
			this(version, copies, expiresAtMillis, contentType, value, null);
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

		@Override
		public Live under(Version ballot, Lineage lineage) {
			return new Live(ballot, this.copies, this.expiresAtMillis, this.contentType, this.value, lineage);
		}

	}

	/**
	 * A delete, kept so that no older value comes back.
	 *
	 * @param lineage see {@link Entry#lineage()}
	 */
	record Tombstone(Version version, Copies copies, @Nullable Lineage lineage) implements Entry {

		/** A delete that was stored without a ballot. */
		public Tombstone(Version version, Copies copies) {
			this(version, copies, null);
		}

		/** A delete with this number of copies, whatever the default is. */
		public Tombstone(Version version, int copies) {
			this(version, Copies.of(copies));
		}

		@Override
		public boolean isVisibleAt(long millis) {
			return false;
		}

		@Override
		public Tombstone under(Version ballot, Lineage lineage) {
			return new Tombstone(ballot, this.copies, lineage);
		}

	}

}
