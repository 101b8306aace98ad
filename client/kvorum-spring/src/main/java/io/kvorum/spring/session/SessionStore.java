package io.kvorum.spring.session;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.kvorum.client.Entities;
import io.kvorum.client.KvorumException;
import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.Outcome;
import io.kvorum.client.ReadOptions;
import io.kvorum.client.WriteOptions;
import io.kvorum.spring.session.KvorumSession.Stored;
import io.kvorum.spring.session.SessionRecord.Delta;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Mono;

/**
 * Sessions by id. All writes have a condition, so that none brings back a session, and an
 * idempotency key, so that the client can repeat them.
 * <p>
 * This is {@link Entities#update} with two differences. The time to live depends on what
 * is written. And the first write is made on top of what the request has read already: a
 * session that only one request uses needs one round trip for a save.
 */
final class SessionStore {

	private static final Log logger = LogFactory.getLog(SessionStore.class);

	private static final Duration LEAST = Duration.ofSeconds(1);

	private static final Duration LONGEST = Duration.ofDays(3650);

	/** Of a key of Kvorum. */
	private static final int MAX_KEY_BYTES = 1024;

	private static final Duration LONGEST_PAUSE = Duration.ofMillis(50);

	/** For each request that ends a move, also if the deadline of the save is over. */
	private static final Duration LEAST_OF_MOVE = Duration.ofSeconds(1);

	private final Entities<SessionRecord> sessions;

	private final String prefix;

	private final Duration saveDeadline;

	private final LongSupplier nanoTime;

	SessionStore(Entities<SessionRecord> sessions, String prefix, Duration saveDeadline, LongSupplier nanoTime) {
		this.sessions = sessions;
		this.prefix = prefix;
		this.saveDeadline = saveDeadline;
		this.nanoTime = nanoTime;
	}

	/**
	 * A session; empty if there is none, also for what cannot be an id, of a cookie for
	 * instance.
	 */
	Mono<Stored> read(String id) {
		return read(id, ReadOptions.DEFAULTS);
	}

	private Mono<Stored> read(String id, ReadOptions options) {
		return !isKey(this.prefix + id) ? Mono.empty() : this.sessions.get(this.prefix + id, options)
			.map(entity -> new Stored(id, entity.version(), entity.value()));
	}

	private static boolean isKey(String text) {
		return StandardCharsets.UTF_8.newEncoder().canEncode(text)
				&& text.getBytes(StandardCharsets.UTF_8).length <= MAX_KEY_BYTES;
	}

	private Mono<Stored> put(String id, SessionRecord session, WriteOptions condition, long end) {
		return Mono.defer(() -> {
			Duration ttl = session.maxInactive();
			WriteOptions options = ttl.isNegative() ? condition : condition.ttl(limited(ttl));
			return this.sessions.put(this.prefix + id, session, options.once().deadline(until(end)))
				.map(version -> new Stored(id, version, session));
		});
	}

	private static Duration limited(Duration ttl) {
		Duration atLeast = (ttl.compareTo(LEAST) < 0) ? LEAST : ttl;
		return (atLeast.compareTo(LONGEST) > 0) ? LONGEST : atLeast;
	}

	/** When a save that begins now has to be over. */
	private long end() {
		return this.nanoTime.getAsLong() + this.saveDeadline.toNanos();
	}

	private Duration until(long end) {
		return Duration.ofNanos(Math.max(end - this.nanoTime.getAsLong(), 1));
	}

	private static Duration atLeast(Duration remaining) {
		return (remaining.compareTo(LEAST_OF_MOVE) > 0) ? remaining : LEAST_OF_MOVE;
	}

	/**
	 * Stores a new session.
	 * @param delta what has changed, if another save of the same session was first
	 */
	Mono<Stored> create(String id, SessionRecord session, Delta delta) {
		long end = end();
		return put(id, session, WriteOptions.DEFAULTS.ifAbsent(), end).onErrorResume(ConditionNotMet.class,
				exists -> again(id, end, exists, stored -> change(stored, delta, end)));
	}

	/** Writes a change on top of a session. */
	Mono<Stored> change(Stored before, Delta delta) {
		return change(before, delta, end());
	}

	private Mono<Stored> change(Stored before, Delta delta, long end) {
		return put(before.id(), before.with(delta), WriteOptions.DEFAULTS.ifVersion(before.version()), end)
			.onErrorResume(ConditionNotMet.class,
					changed -> again(before.id(), end, changed, stored -> change(stored, delta, end)));
	}

	/** Reads a session again that another request has saved. */
	private Mono<Stored> again(String id, long end, ConditionNotMet conflict, Function<Stored, Mono<Stored>> next) {
		if (conflict.current() == null) {
			return Mono.error(invalidated());
		}
		Duration pause = Duration.ofNanos(ThreadLocalRandom.current().nextLong(LONGEST_PAUSE.toNanos()));
		if (pause.compareTo(until(end)) >= 0) {
			return Mono.error(new SessionConflictException(
					"other requests have saved the session in between, again and again until the saveDeadline of %s was over"
						.formatted(this.saveDeadline),
					conflict));
		}
		return Mono.delay(pause)
			.then(Mono.defer(() -> read(id, ReadOptions.DEFAULTS.deadline(until(end)))))
			.switchIfEmpty(Mono.error(SessionStore::invalidated))
			.flatMap(next);
	}

	private static IllegalStateException invalidated() {
		return new IllegalStateException("Session was invalidated");
	}

	/** Writes a session with a change under another id, and deletes it under its own. */
	Mono<Stored> move(Stored before, Delta delta, String newId) {
		return move(before, delta, newId, WriteOptions.DEFAULTS.ifAbsent(), end());
	}

	private Mono<Stored> move(Stored before, Delta delta, String newId, WriteOptions condition, long end) {
		// An earlier save that failed may have stored it under the new id, which is known
		// to
		// this session only.
		return put(newId, before.with(delta), condition, end)
			.onErrorResume(ConditionNotMet.class, exists -> again(newId, end, exists,
					left -> put(newId, before.with(delta), WriteOptions.DEFAULTS.ifVersion(left.version()), end)))
			.flatMap(moved -> deleteSame(before, until(end)).thenReturn(moved)
				.onErrorResume(ConditionNotMet.class, changed -> again(before.id(), end, changed,
						stored -> move(stored, delta, newId, WriteOptions.DEFAULTS.ifVersion(moved.version()), end)))
				.onErrorResume(failure -> isUnknown(failure) ? afterUnknown(before, moved, failure, end)
						: undo(moved, end).then(Mono.error(failure))));
	}

	/** Whether a write may have happened. */
	static boolean isUnknown(Throwable failure) {
		return failure instanceof KvorumException ex && ex.outcome() == Outcome.UNKNOWN;
	}

	/**
	 * Decides a move whose second half may have happened. If the old session is gone, it
	 * was moved, or another request has deleted it in between: the one that gets the new
	 * id keeps it then. If that cannot be read, both stay, one of them without use.
	 */
	private Mono<Stored> afterUnknown(Stored before, Stored moved, Throwable failure, long end) {
		return read(before.id(), ReadOptions.DEFAULTS.deadline(atLeast(until(end)))).hasElement()
			.flatMap(isThere -> isThere ? undo(moved, end).then(Mono.<Stored>error(failure)) : Mono.just(moved));
	}

	/**
	 * Deletes a moved session. Its id was not given out: one that is left only takes up
	 * space.
	 */
	private Mono<Void> undo(Stored moved, long end) {
		return deleteSame(moved, atLeast(until(end))).onErrorResume(failure -> {
			logger.debug("A session that was not moved in the end stays until it expires", failure);
			return Mono.empty();
		});
	}

	private Mono<Void> deleteSame(Stored stored, Duration deadline) {
		return Mono.defer(() -> this.sessions.delete(this.prefix + stored.id(),
				WriteOptions.DEFAULTS.ifVersion(stored.version()).once().deadline(deadline)));
	}

	/** Deletes a session unless another request has saved it. */
	Mono<Void> deleteIfSame(Stored stored) {
		return deleteSame(stored, this.saveDeadline).onErrorResume(ConditionNotMet.class, changed -> Mono.empty());
	}

	/** Deletes a session. To do that twice does no harm: its id is not used again. */
	Mono<Void> delete(String id) {
		return !isKey(this.prefix + id) ? Mono.empty()
				: this.sessions.delete(this.prefix + id, WriteOptions.DEFAULTS.repeatUnknown());
	}

}
