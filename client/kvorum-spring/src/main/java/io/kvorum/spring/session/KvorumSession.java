package io.kvorum.spring.session;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import io.kvorum.client.Codec;
import io.kvorum.client.Version;
import io.kvorum.spring.session.SessionRecord.Delta;
import io.kvorum.spring.session.SessionRecord.Edit;
import io.kvorum.spring.session.SessionRecord.FailedSave;
import io.kvorum.spring.session.SessionRecord.StoredAttribute;
import org.jspecify.annotations.Nullable;
import org.springframework.session.MapSession;
import org.springframework.session.SaveMode;
import org.springframework.session.Session;
import org.springframework.session.SessionIdGenerator;

/**
 * A session that knows what was changed since it was read or saved. Made by a
 * {@link KvorumReactiveSessionRepository}. Several threads may use it.
 * <p>
 * A change that is being saved is taken out, and comes back if the save fails, with a
 * note of what it was based on: the next save needs that to tell what another request has
 * changed since. It does not come back if the same was set again meanwhile, which another
 * save may have stored already.
 */
public final class KvorumSession implements Session {

	private final MapSession current;

	private final Codec<Object> codec;

	private final SessionIdGenerator ids;

	private final SaveMode saveMode;

	/** Attributes that are to be saved. */
	private final Map<String, Setting<Object>> changed = new HashMap<>();

	/** The last setting of each attribute, also if it is saved or being saved. */
	private final Map<String, Setting<Object>> latest = new HashMap<>();

	private boolean isAccessed;

	/** The interval that is to be saved; null if there is none. */
	private @Nullable Setting<Duration> changedInterval;

	private @Nullable Setting<Duration> latestInterval;

	private @Nullable Stored stored;

	/**
	 * What was read or written last.
	 *
	 * @param id of that time
	 * @param version of the value
	 * @param record the value
	 */
	record Stored(String id, Version version, SessionRecord record) {

		/** The record with a change on top of it. */
		SessionRecord with(Delta delta) {
			return this.record.with(delta, this.version);
		}

	}

	/**
	 * A value that was set once. Another setting is not equal, also of the same value.
	 */
	private static final class Setting<T> {

		/** Null if it was removed. */
		private final @Nullable T value;

		/** The first save of it that has failed. */
		private final @Nullable Change failed;

		private final boolean mayHaveHappened;

		Setting(@Nullable T value) {
			this(value, null, false);
		}

		private Setting(@Nullable T value, @Nullable Change failed, boolean mayHaveHappened) {
			this.value = value;
			this.failed = failed;
			this.mayHaveHappened = mayHaveHappened;
		}

		Setting<T> failed(Change change, boolean mayHaveHappened) {
			return new Setting<>(this.value, (this.failed != null) ? this.failed : change,
					this.mayHaveHappened || mayHaveHappened);
		}

		/**
		 * What is to be stored.
		 * @param encoded from the value to what is stored
		 * @param before from a session to what it has stored
		 */
		<S> Edit<S> edit(Function<T, S> encoded, Function<SessionRecord, Optional<S>> before) {
			Optional<S> stored = Optional.ofNullable(this.value).map(encoded);
			if (this.failed == null) {
				return new Edit<>(stored, null);
			}
			Stored base = this.failed.before();
			return new Edit<>(stored,
					(base != null) ? new FailedSave<>(before.apply(base.record()), base.version(), this.mayHaveHappened)
							: new FailedSave<>(Optional.empty(), null, this.mayHaveHappened));
		}

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
		read.attributes().forEach((name, attribute) -> this.current.setAttribute(name, decoded(codec, attribute)));
		if (saveMode == SaveMode.ALWAYS) {
			this.current.getAttributeNames().forEach(name -> set(name, this.current.getAttribute(name)));
		}
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

	/**
	 * Takes what has changed: to be ended by {@link #saved}, or by {@link #failed} if it
	 * is not saved.
	 */
	synchronized Change takeChange() {
		Change change = new Change(this.stored, getId(), Map.copyOf(this.changed), this.isAccessed,
				this.changedInterval);
		this.changed.clear();
		this.isAccessed = false;
		this.changedInterval = null;
		return change;
	}

	/** Changes that are being saved. */
	static final class Change {

		private final @Nullable Stored before;

		private final String id;

		private final Map<String, Setting<Object>> attributes;

		private final boolean isAccessed;

		private final @Nullable Setting<Duration> interval;

		/** A save may be cancelled after its end. */
		private boolean hasEnded;

		private Change(@Nullable Stored before, String id, Map<String, Setting<Object>> attributes, boolean isAccessed,
				@Nullable Setting<Duration> interval) {
			this.before = before;
			this.id = id;
			this.attributes = attributes;
			this.isAccessed = isAccessed;
			this.interval = interval;
		}

		/** What was read or written last; null for a new session. */
		@Nullable Stored before() {
			return this.before;
		}

		/** The id of the session afterwards. */
		String id() {
			return this.id;
		}

		boolean isEmpty() {
			return this.attributes.isEmpty() && !this.isAccessed && this.interval == null;
		}

	}

	synchronized Delta delta(Change change) {
		Map<String, Edit<StoredAttribute>> attributes = new HashMap<>();
		change.attributes.forEach((name, setting) -> attributes.put(name,
				setting.edit(this::encoded, stored -> Optional.ofNullable(stored.attributes().get(name)))));
		return new Delta(change.isAccessed ? Optional.of(this.current.getLastAccessedTime()) : Optional.empty(),
				Optional.ofNullable(change.interval)
					.map(setting -> setting.edit(Function.identity(), stored -> Optional.of(stored.maxInactive()))),
				attributes);
	}

	private StoredAttribute encoded(Object value) {
		try {
			return new StoredAttribute(this.codec.contentType(), this.codec.encode(value));
		}
		catch (LinkageError | StackOverflowError ex) {
			throw new IllegalStateException(
					"an attribute of %s cannot be written".formatted(value.getClass().getName()), ex);
		}
	}

	/**
	 * Reactor would not pass on an error of linking: those who wait would do so for ever.
	 */
	private static Object decoded(Codec<Object> codec, StoredAttribute attribute) {
		try {
			return codec.decode(attribute.value(), attribute.contentType());
		}
		catch (LinkageError | StackOverflowError ex) {
			throw new IllegalStateException("an attribute cannot be read", ex);
		}
	}

	synchronized void saved(Change change, Stored now) {
		change.hasEnded = true;
		this.stored = now;
	}

	/**
	 * Changes that were not saved, or are not known to be.
	 * @param mayHaveHappened whether the outcome is unknown
	 */
	synchronized void failed(Change change, boolean mayHaveHappened) {
		if (change.hasEnded) {
			return;
		}
		change.hasEnded = true;
		change.attributes.forEach((name, setting) -> {
			if (this.latest.get(name) == setting) {
				changed(name, setting.failed(change, mayHaveHappened));
			}
		});
		if (change.interval != null && change.interval == this.latestInterval) {
			changedInterval(change.interval.failed(change, mayHaveHappened));
		}
		this.isAccessed |= change.isAccessed;
	}

	private void set(String name, @Nullable Object value) {
		changed(name, new Setting<>(value));
	}

	private void changed(String name, Setting<Object> setting) {
		this.changed.put(name, setting);
		this.latest.put(name, setting);
	}

	private void changedInterval(Setting<Duration> setting) {
		this.changedInterval = setting;
		this.latestInterval = setting;
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
			set(attributeName, value);
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
		set(attributeName, attributeValue);
	}

	@Override
	public synchronized void removeAttribute(String attributeName) {
		this.current.removeAttribute(attributeName);
		set(attributeName, null);
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
		changedInterval(new Setting<>(interval));
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
