package io.kvorum.spring.session;

import java.time.Duration;
import java.util.function.LongSupplier;

import io.kvorum.client.Codec;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.WriteOptions;
import io.kvorum.spring.session.KvorumSession.Change;
import io.kvorum.spring.session.KvorumSession.Stored;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.session.MapSession;
import org.springframework.session.ReactiveSessionRepository;
import org.springframework.session.SaveMode;
import org.springframework.session.SessionIdGenerator;
import org.springframework.session.UuidSessionIdGenerator;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Sessions of Spring Session in Kvorum, for reactive web applications. A session is one
 * value with a time to live.
 * <p>
 * <b>Requests at the same time.</b> A save writes what its request has changed on top of
 * what the others have saved: attributes that different requests set are all there
 * afterwards. Of two requests that set the same attribute, the later save counts.
 * <p>
 * <b>After a save that failed</b> the next save of the same session stores what it should
 * have stored, but not over what another request has saved since: that is newer. If the
 * outcome of the failed save is unknown, and another request has saved the session since,
 * and the attribute is as it was before, then either the save did not happen or the other
 * request has undone it. Such a save fails with a {@link SessionConflictException}: read
 * the session again, or set the attribute again.
 * <p>
 * <b>Sessions that are gone.</b> A save never brings back a session that was deleted, has
 * expired or has another id by now. It fails with an {@link IllegalStateException}, as
 * with the other repositories of Spring Session.
 * <p>
 * <b>Time.</b> The maximum inactive interval is the time to live of the value, at least a
 * second. Kvorum renews a time to live only by writing the value again, so each request
 * that uses a session writes it as a whole: keep sessions small. A value has at most 1 MB
 * unless the nodes say otherwise.
 * <p>
 * <b>A changed id</b> is a new value, and then the old one is deleted. If that fails, the
 * new one is deleted again and the save fails. If the process dies in between, the old
 * session stays as it was, and the id of the new one was not given out. Of two requests
 * that change the id at the same time one fails.
 * <p>
 * <b>Failures</b> are {@link io.kvorum.client.KvorumException}s, or come from the codec.
 * A save that other requests come in between until its deadline is over fails with a
 * {@link SessionConflictException}. There are no events of sessions that end, and
 * sessions are not found by the name of a user.
 */
public final class KvorumReactiveSessionRepository implements ReactiveSessionRepository<KvorumSession> {

	/** The prefix of keys unless another is given. */
	public static final String DEFAULT_PREFIX = "sessions/";

	private static final Duration DEFAULT_SAVE_DEADLINE = Duration.ofSeconds(10);

	private static final Log logger = LogFactory.getLog(KvorumReactiveSessionRepository.class);

	private final SessionStore store;

	private final Codec<Object> codec;

	private final Duration maxInactiveInterval;

	private final SaveMode saveMode;

	private final SessionIdGenerator ids;

	private final boolean dropsUnreadable;

	private KvorumReactiveSessionRepository(Builder builder) {
		this.store = new SessionStore(builder.client.entities(new SessionRecordCodec()), builder.prefix,
				builder.saveDeadline, builder.nanoTime);
		this.codec = builder.codec;
		this.maxInactiveInterval = builder.maxInactiveInterval;
		this.saveMode = builder.saveMode;
		this.ids = builder.ids;
		this.dropsUnreadable = builder.dropsUnreadable;
	}

	/**
	 * Begins to make a repository.
	 * @param client the client
	 * @param codec how attributes are stored:
	 * {@link io.kvorum.spring.codec.JsonObjectCodec#typed} or
	 * {@link io.kvorum.spring.codec.JavaObjectCodec#allowing} for instance
	 * @return a builder
	 */
	public static Builder builder(KvorumClient client, Codec<Object> codec) {
		return new Builder(client, codec);
	}

	@Override
	public Mono<KvorumSession> createSession() {
		// Secure random numbers may block.
		return Mono.fromSupplier(this.ids::generate)
			.subscribeOn(Schedulers.boundedElastic())
			.publishOn(Schedulers.parallel())
			.map(id -> {
				MapSession session = new MapSession(id);
				session.setMaxInactiveInterval(this.maxInactiveInterval);
				return new KvorumSession(session, this.codec, this.ids, this.saveMode);
			});
	}

	@Override
	public Mono<KvorumSession> findById(String id) {
		return this.store.read(id).flatMap(this::read);
	}

	private Mono<KvorumSession> read(Stored stored) {
		KvorumSession session;
		try {
			session = new KvorumSession(stored, this.codec, this.ids, this.saveMode);
		}
		catch (RuntimeException ex) {
			if (!this.dropsUnreadable) {
				return Mono.error(ex);
			}
			logger.warn("A session cannot be read, and is deleted", ex);
			return this.store.deleteIfSame(stored).then(Mono.empty());
		}
		return session.isExpired() ? this.store.deleteIfSame(stored).then(Mono.empty()) : Mono.just(session);
	}

	@Override
	public Mono<Void> save(KvorumSession session) {
		return Mono.defer(() -> {
			Change change = session.takeChange();
			return write(session, change).doOnNext(now -> session.saved(change, now))
				.doOnError(failure -> session.failed(change, SessionStore.isUnknown(failure)))
				.doOnCancel(() -> session.failed(change, true))
				.then();
		});
	}

	private Mono<Stored> write(KvorumSession session, Change change) {
		return Mono.defer(() -> {
			Stored before = change.before();
			if (before == null) {
				return this.store.create(change.id(), session.snapshot(), session.delta(change));
			}
			if (!before.id().equals(change.id())) {
				return this.store.move(before, session.delta(change), change.id());
			}
			return change.isEmpty() ? Mono.empty() : this.store.change(before, session.delta(change));
		});
	}

	@Override
	public Mono<Void> deleteById(String id) {
		return this.store.delete(id);
	}

	/** Makes a repository. */
	public static final class Builder {

		private final KvorumClient client;

		private final Codec<Object> codec;

		private String prefix = DEFAULT_PREFIX;

		private Duration maxInactiveInterval = MapSession.DEFAULT_MAX_INACTIVE_INTERVAL;

		private Duration saveDeadline = DEFAULT_SAVE_DEADLINE;

		private LongSupplier nanoTime = System::nanoTime;

		private SaveMode saveMode = SaveMode.ON_SET_ATTRIBUTE;

		private SessionIdGenerator ids = UuidSessionIdGenerator.getInstance();

		private boolean dropsUnreadable;

		private Builder(KvorumClient client, Codec<Object> codec) {
			this.client = client;
			this.codec = codec;
		}

		/**
		 * What the keys of sessions begin with: {@value #DEFAULT_PREFIX}. The rest is the
		 * id, which gives access to the session. So only this application should be
		 * allowed to read these keys.
		 * @param prefix the prefix
		 * @return this
		 */
		public Builder prefix(String prefix) {
			this.prefix = prefix;
			return this;
		}

		/**
		 * How long a new session lasts without being used: 30 minutes. Negative for ever.
		 * @param interval the time
		 * @return this
		 */
		public Builder maxInactiveInterval(Duration interval) {
			this.maxInactiveInterval = interval;
			return this;
		}

		/**
		 * The longest time of a save, with all that it repeats because of other requests:
		 * 10 seconds. Then it ends in a {@link SessionConflictException}, or in what
		 * Kvorum could not do. To undo a changed id may take up to two seconds more.
		 * @param deadline more than 0, at most a day
		 * @return this
		 * @throws IllegalArgumentException if it is out of bounds
		 */
		public Builder saveDeadline(Duration deadline) {
			WriteOptions.DEFAULTS.deadline(deadline);
			this.saveDeadline = deadline;
			return this;
		}

		Builder nanoTime(LongSupplier nanoTime) {
			this.nanoTime = nanoTime;
			return this;
		}

		/**
		 * Which attributes a save writes: {@link SaveMode#ON_SET_ATTRIBUTE}. The other
		 * modes also save attributes that were changed in place, and overwrite those of
		 * other requests.
		 * @param mode the mode
		 * @return this
		 */
		public Builder saveMode(SaveMode mode) {
			this.saveMode = mode;
			return this;
		}

		/**
		 * How ids are made: random UUIDs.
		 * @param generator must make ids that cannot be guessed, and none twice
		 * @return this
		 */
		public Builder sessionIdGenerator(SessionIdGenerator generator) {
			this.ids = generator;
			return this;
		}

		/**
		 * Deletes a session with an attribute that the codec cannot read, as if it had
		 * expired. Otherwise the request fails, and so do all others with that session,
		 * after a class has changed for instance.
		 * @return this
		 */
		public Builder dropUnreadable() {
			this.dropsUnreadable = true;
			return this;
		}

		/**
		 * Makes the repository.
		 * @return the repository
		 */
		public KvorumReactiveSessionRepository build() {
			return new KvorumReactiveSessionRepository(this);
		}

	}

}
