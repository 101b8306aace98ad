package io.kvorum.spring.session;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

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

	/**
	 * An attribute as it was written.
	 *
	 * @param contentType what it was written as
	 * @param value its bytes
	 */
	@SuppressWarnings("ArrayRecordComponent")
	record StoredAttribute(String contentType, byte[] value) {
	}

	/**
	 * What one request has changed.
	 *
	 * @param lastAccessed if it was set
	 * @param maxInactive if it was set
	 * @param attributes those that were set, and empty ones for those that were removed
	 */
	record Delta(Optional<Instant> lastAccessed, Optional<Duration> maxInactive,
			Map<String, Optional<StoredAttribute>> attributes) {
	}

	/** This with a change on top of it. The last of two accesses counts. */
	SessionRecord with(Delta delta) {
		Map<String, StoredAttribute> merged = new TreeMap<>(this.attributes);
		delta.attributes().forEach((name, attribute) -> {
			if (attribute.isPresent()) {
				merged.put(name, attribute.get());
			}
			else {
				merged.remove(name);
			}
		});
		Instant accessed = delta.lastAccessed().filter(this.lastAccessed::isBefore).orElse(this.lastAccessed);
		return new SessionRecord(this.created, accessed, delta.maxInactive().orElse(this.maxInactive), merged);
	}

}
