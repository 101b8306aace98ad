package io.kvorum.spring.session;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.kvorum.client.Codec;
import io.kvorum.client.Version;
import io.kvorum.spring.session.SessionRecord.Delta;
import io.kvorum.spring.session.SessionRecord.StoredAttribute;
import org.jspecify.annotations.Nullable;
import org.springframework.session.MapSession;
import org.springframework.session.SaveMode;
import org.springframework.session.Session;
import org.springframework.session.SessionIdGenerator;

/**
 * A session that knows what was changed since it was read or saved. Made by a
 * {@link KvorumReactiveSessionRepository}. Several threads may use it.
 */
public final class KvorumSession implements Session {

	private final MapSession current;

	private final Codec<Object> codec;

	private final SessionIdGenerator ids;

	private final SaveMode saveMode;

	/** Attributes that were set, or removed if their value is null. */
	private final Map<String, @Nullable Object> changed = new HashMap<>();

	private boolean isAccessed;

	private boolean isIntervalSet;

	private @Nullable Stored stored;

	/**
	 * What was read or written last.
	 *
	 * @param id of that time
	 * @param version of the value
	 * @param record the value
	 */
	record Stored(String id, Version version, SessionRecord record) {
	}

	/** A session that is not stored yet. */
	KvorumSession(MapSession current, Codec<Object> codec, SessionIdGenerator ids, SaveMode saveMode) {
		this.current = current;
		this.codec = codec;
		this.ids = ids;
		this.saveMode = saveMode;
	}

	/** A session that was read. */
	KvorumSession(Stored stored, Codec<Object> codec, SessionIdGenerator ids, SaveMode saveMode) {
		this(new MapSession(stored.id()), codec, ids, saveMode);
		this.stored = stored;
		SessionRecord read = stored.record();
		this.current.setCreationTime(read.created());
		this.current.setLastAccessedTime(read.lastAccessed());
		this.current.setMaxInactiveInterval(read.maxInactive());
		read.attributes()
			.forEach((name, attribute) -> this.current.setAttribute(name,
					codec.decode(attribute.value(), attribute.contentType())));
		if (saveMode == SaveMode.ALWAYS) {
			this.current.getAttributeNames().forEach(name -> this.changed.put(name, this.current.getAttribute(name)));
		}
	}

	/** What was read or written last; null for a new session. */
	synchronized @Nullable Stored stored() {
		return this.stored;
	}

	/** The session as a whole, for its first save. */
	synchronized SessionRecord snapshot() {
		Map<String, StoredAttribute> attributes = new HashMap<>();
		for (String name : this.current.getAttributeNames()) {
			Object value = this.current.getAttribute(name);
			if (value != null) {
				attributes.put(name, encoded(value));
			}
		}
		return new SessionRecord(this.current.getCreationTime(), this.current.getLastAccessedTime(),
				this.current.getMaxInactiveInterval(), attributes);
	}

	/** Takes what has changed: to be given back by {@link #failed} if it is not saved. */
	synchronized Change takeChange() {
		Change change = new Change(new HashMap<>(this.changed), this.isAccessed, this.isIntervalSet);
		this.changed.clear();
		this.isAccessed = false;
		this.isIntervalSet = false;
		return change;
	}

	/**
	 * Changes that are being saved.
	 *
	 * @param attributes those that were set, or removed if their value is null
	 * @param isAccessed whether the time of the last access was set
	 * @param isIntervalSet whether the interval was set
	 */
	record Change(Map<String, @Nullable Object> attributes, boolean isAccessed, boolean isIntervalSet) {

		boolean isEmpty() {
			return this.attributes.isEmpty() && !this.isAccessed && !this.isIntervalSet;
		}

	}

	synchronized Delta delta(Change change) {
		Map<String, Optional<StoredAttribute>> attributes = new HashMap<>();
		change.attributes()
			.forEach((name, value) -> attributes.put(name, Optional.ofNullable(value).map(this::encoded)));
		return new Delta(change.isAccessed() ? Optional.of(this.current.getLastAccessedTime()) : Optional.empty(),
				change.isIntervalSet() ? Optional.of(this.current.getMaxInactiveInterval()) : Optional.empty(),
				attributes);
	}

	private StoredAttribute encoded(Object value) {
		return new StoredAttribute(this.codec.contentType(), this.codec.encode(value));
	}

	synchronized void saved(Stored now) {
		this.stored = now;
	}

	/** Changes that were not saved; those that were made since then stay. */
	synchronized void failed(Change change) {
		change.attributes().forEach((name, value) -> {
			if (!this.changed.containsKey(name)) {
				this.changed.put(name, value);
			}
		});
		this.isAccessed |= change.isAccessed();
		this.isIntervalSet |= change.isIntervalSet();
	}

	@Override
	public synchronized String getId() {
		return this.current.getId();
	}

	@Override
	public synchronized String changeSessionId() {
		String id = this.ids.generate();
		this.current.setId(id);
		return id;
	}

	@Override
	@SuppressWarnings("TypeParameterUnusedInFormals")
	public synchronized <T> @Nullable T getAttribute(String attributeName) {
		T value = this.current.getAttribute(attributeName);
		if (value != null && this.saveMode == SaveMode.ON_GET_ATTRIBUTE) {
			this.changed.put(attributeName, value);
		}
		return value;
	}

	@Override
	public synchronized Set<String> getAttributeNames() {
		return new HashSet<>(this.current.getAttributeNames());
	}

	@Override
	public synchronized void setAttribute(String attributeName, @Nullable Object attributeValue) {
		this.current.setAttribute(attributeName, attributeValue);
		this.changed.put(attributeName, attributeValue);
	}

	@Override
	public synchronized void removeAttribute(String attributeName) {
		this.current.removeAttribute(attributeName);
		this.changed.put(attributeName, null);
	}

	@Override
	public synchronized Instant getCreationTime() {
		return this.current.getCreationTime();
	}

	@Override
	public synchronized void setLastAccessedTime(Instant lastAccessedTime) {
		this.current.setLastAccessedTime(lastAccessedTime);
		this.isAccessed = true;
	}

	@Override
	public synchronized Instant getLastAccessedTime() {
		return this.current.getLastAccessedTime();
	}

	@Override
	public synchronized void setMaxInactiveInterval(Duration interval) {
		this.current.setMaxInactiveInterval(interval);
		this.isIntervalSet = true;
	}

	@Override
	public synchronized Duration getMaxInactiveInterval() {
		return this.current.getMaxInactiveInterval();
	}

	@Override
	public synchronized boolean isExpired() {
		return this.current.isExpired();
	}

}
