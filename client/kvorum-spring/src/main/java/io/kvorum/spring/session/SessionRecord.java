package io.kvorum.spring.session;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import io.kvorum.client.Version;
import org.jspecify.annotations.Nullable;

/**
 * What is stored of a session. Attributes stay as they were written, so that to merge two
 * requests no attribute has to be read.
 *
 * @param created when the session was created
 * @param lastAccessed when it was used last
 * @param maxInactive how long it lasts without being used; negative for ever
 * @param attributes by name
 */
record SessionRecord(Instant created, Instant lastAccessed, Duration maxInactive,
		Map<String, StoredAttribute> attributes) {

	/** An attribute as it was written. */
	static final class StoredAttribute {

		private final String contentType;

		private final byte[] value;

		StoredAttribute(String contentType, byte[] value) {
			this.contentType = contentType;
			this.value = value;
		}

		String contentType() {
			return this.contentType;
		}

		byte[] value() {
			return this.value;
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof StoredAttribute that && this.contentType.equals(that.contentType)
					&& Arrays.equals(this.value, that.value);
		}

		@Override
		public int hashCode() {
			return 31 * this.contentType.hashCode() + Arrays.hashCode(this.value);
		}

	}

	/**
	 * What one request has changed.
	 *
	 * @param lastAccessed if it was set
	 * @param maxInactive if it was set
	 * @param attributes those that were set or removed
	 */
	record Delta(Optional<Instant> lastAccessed, Optional<Edit<Duration>> maxInactive,
			Map<String, Edit<StoredAttribute>> attributes) {
	}

	/**
	 * A value that was set, or removed.
	 *
	 * @param <T> the type of the value
	 * @param value the value; empty if it was removed
	 * @param failed the save of it that has failed; null if this is the first
	 */
	record Edit<T>(Optional<T> value, @Nullable FailedSave<T> failed) {

		/**
		 * The value afterwards. One that another request has saved since the save that
		 * failed is newer than this one, and stays.
		 * @param name what is set
		 * @param current the value that is stored
		 * @param version of the session that is stored
		 * @throws SessionConflictException if it cannot be known which is newer: the
		 * failed save may have happened, and another request may have restored the value
		 * before it
		 */
		Optional<T> on(String name, Optional<T> current, Version version) {
			FailedSave<T> failure = this.failed;
			if (failure == null || version.equals(failure.version())) {
				return this.value;
			}
			if (!current.equals(failure.before())) {
				return current;
			}
			if (failure.mayHaveHappened() && !current.equals(this.value)) {
				throw new SessionConflictException(("%s was in a save that may have happened, and another request "
						+ "has saved the session since: it cannot be known which is newer. "
						+ "Read the session again, or set it again")
					.formatted(name), null);
			}
			return this.value;
		}

	}

	/**
	 * A save that has failed.
	 *
	 * @param <T> the type of the value
	 * @param before the value before it
	 * @param version of the session before it; null if there was none
	 * @param mayHaveHappened whether its outcome is unknown
	 */
	record FailedSave<T>(Optional<T> before, @Nullable Version version, boolean mayHaveHappened) {
	}

	/**
	 * This with a change on top of it. The last of two accesses counts.
	 * @param delta the change
	 * @param version of this
	 * @throws SessionConflictException if it cannot be known which of two values is newer
	 */
	SessionRecord with(Delta delta, Version version) {
		Map<String, StoredAttribute> merged = new TreeMap<>(this.attributes);
		delta.attributes().forEach((name, edit) -> {
			Optional<StoredAttribute> current = Optional.ofNullable(this.attributes.get(name));
			edit.on("the attribute " + name, current, version)
				.ifPresentOrElse(value -> merged.put(name, value), () -> merged.remove(name));
		});
		Instant accessed = delta.lastAccessed().filter(this.lastAccessed::isBefore).orElse(this.lastAccessed);
		Duration interval = delta.maxInactive()
			.flatMap(edit -> edit.on("the maxInactiveInterval", Optional.of(this.maxInactive), version))
			.orElse(this.maxInactive);
		return new SessionRecord(this.created, accessed, interval, merged);
	}

}
