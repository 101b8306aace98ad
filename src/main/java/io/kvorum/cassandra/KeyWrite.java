package io.kvorum.cassandra;

import java.nio.ByteBuffer;
import java.time.Duration;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.kvorum.cassandra.CassandraStore.Attempt;
import io.kvorum.cassandra.CassandraStore.Content;
import io.kvorum.cassandra.Failures.Effect;
import io.kvorum.cassandra.Statements.Change;
import io.kvorum.cassandra.Statements.Guard;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.RequestDigest;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A write of one key.
 * <p>
 * A write with a condition compares in the transaction that writes. What it compares with
 * is the version that the client knows, if that suffices, else what it reads before. It
 * reads again whenever the comparison fails.
 * <p>
 * A write with an idempotency key is given its identity by the table of requests. The
 * transaction that writes also records the identity beside the entry, unless it is there.
 * So of all requests with this key, through any gateway, one changes the entry.
 */
final class KeyWrite {

	/**
	 * The time for which Cassandra keeps what has expired, so that gateways whose clocks
	 * differ judge by the instant of expiry alone.
	 */
	private static final Duration MARGIN = Duration.ofMinutes(1);

	/** The last second that Cassandra can express for the end of a row. */
	private static final long LAST_EXPIRY_SECONDS = Integer.MAX_VALUE - 1L;

	private static final long SECOND_MILLIS = 1000;

	private final CassandraStore store;

	private final Attempt attempt;

	private final Statements statements;

	private final ByteBuffer key;

	private final Condition condition;

	private final @Nullable Content content;

	private final @Nullable IdempotencyKey name;

	private final @Nullable RequestDigest digest;

	private Version identity;

	/** Whether another request with its idempotency key may have done it. */
	private boolean isRepeat;

	KeyWrite(CassandraStore store, Attempt attempt, Key key, Condition condition, @Nullable Content content,
			@Nullable IdempotencyKey name, @Nullable RequestDigest digest) {
		this.store = store;
		this.attempt = attempt;
		this.statements = attempt.statements();
		this.key = CassandraStore.bytes(key);
		this.condition = condition;
		this.content = content;
		this.name = name;
		this.digest = digest;
		this.identity = store.nextVersion();
	}

	Mono<Version> run() {
		if (this.name != null && this.digest != null) {
			return once(this.name, this.digest);
		}
		if (!this.attempt.isLinearizable()) {
			return execute(new Guard.None()).thenReturn(this.identity);
		}
		Guard shortcut = shortcut(this.condition);
		return (shortcut != null) ? write(shortcut) : readAndWrite();
	}

	/** What tells without a read whether the condition holds; null if nothing does. */
	static @Nullable Guard shortcut(Condition condition) {
		if (condition.isNone()) {
			return new Guard.Always();
		}
		Tags match = condition.match();
		Tags noneMatch = condition.noneMatch();
		if (match == null && noneMatch != null && noneMatch.any()) {
			return new Guard.Entry(null);
		}
		if (match != null && !match.any() && match.versions().size() == 1 && noneMatch == null) {
			return new Guard.Version(VersionCell.of(match.versions().iterator().next()));
		}
		return null;
	}

	/** Writes if the guard holds, else reads what is there. */
	private Mono<Version> write(Guard guard) {
		return execute(guard).flatMap(result -> result.wasApplied() ? Mono.just(this.identity) : readAndWrite());
	}

	private Mono<AsyncResultSet> execute(Guard guard) {
		Effect effect = (guard instanceof Guard.None) ? Effect.WRITE : Effect.TRANSACTION;
		return this.attempt.execute(statement(guard), Step.STORE, effect);
	}

	private BoundStatement statement(Guard guard) {
		return this.statements.write(this.key, change(this.identity, this.content, this.store.time().millis()), guard,
				this.attempt.writeLevel());
	}

	/** What a write stores; without a content it removes the entry. */
	static Change change(Version identity, @Nullable Content content, long nowMillis) {
		if (content == null) {
			return new Change(null, VersionCell.of(identity), 0);
		}
		if (content.ttl() == null) {
			return new Change(StoredEntry.encode(identity, Live.NEVER, content.contentType(), content.value()),
					VersionCell.of(identity), 0);
		}
		long expiresAtMillis = content.ttl().expiresAtMillis(identity.millis());
		return new Change(StoredEntry.encode(identity, expiresAtMillis, content.contentType(), content.value()),
				VersionCell.ofExpiring(identity), ttlSeconds(content.ttl().duration(), nowMillis));
	}

	/**
	 * The TTL in seconds of a row that is needed for this long; 0 for none, if Cassandra
	 * cannot express its end.
	 */
	static int ttlSeconds(Duration use, long nowMillis) {
		long seconds = use.plus(MARGIN).toSeconds();
		return (nowMillis / SECOND_MILLIS + seconds < LAST_EXPIRY_SECONDS) ? (int) seconds : 0;
	}

	private Mono<Version> readAndWrite() {
		if (this.attempt.isLate()) {
			return Mono.error(Failures.contention(this.attempt.required()));
		}
		return read().flatMap(found -> {
			Version current = found.identityNow();
			return this.condition.holdsFor(current) ? write(found.guard())
					: Mono.error(new ConditionNotMetException(current));
		});
	}

	private Mono<Found> read() {
		ByteBuffer request = VersionCell.of(this.identity);
		return this.attempt.execute(this.statements.readAll(this.key, request), Step.VERSIONS, Effect.READ)
			.map(this::found);
	}

	private Found found(AsyncResultSet result) {
		ByteBuffer version = null;
		ByteBuffer entry = null;
		ByteBuffer outcome = null;
		for (Row row : result.currentPage()) {
			ByteBuffer request = CassandraStore.cell(row, "request");
			if (request != null && request.hasRemaining()) {
				outcome = CassandraStore.cell(row, "entry");
			}
			else {
				version = CassandraStore.cell(row, "version");
				entry = CassandraStore.cell(row, "entry");
			}
		}
		Live live = this.store.live(entry);
		return new Found((live != null) ? live.identity() : null, guard(version, entry), outcome);
	}

	/** The guard that holds as long as these cells of an entry stay as they are. */
	static Guard guard(@Nullable ByteBuffer version, @Nullable ByteBuffer entry) {
		return (version != null && entry != null && !VersionCell.isPlain(version)) ? new Guard.Version(version)
				: new Guard.Entry(entry);
	}

	/** Does the write unless another request with its idempotency key has done it. */
	private Mono<Version> once(IdempotencyKey name, RequestDigest digest) {
		return new RequestNames(this.store, this.attempt).find(name, digest, this.identity)
			.onErrorMap(OperationFailedException.class,
					ex -> (ex.kind() == OperationFailedException.Kind.KEY_REUSED) ? ex : Failures.unclear(ex))
			.flatMap(first -> {
				this.isRepeat = !first.equals(this.identity);
				this.identity = first;
				return this.isRepeat ? lookAndWriteOnce() : writeOnce(new Guard.Always(), this.condition.isNone());
			})
			.onErrorMap(OperationFailedException.class,
					ex -> (this.isRepeat && ex.kind() != OperationFailedException.Kind.KEY_REUSED)
							? Failures.unclear(ex) : ex);
	}

	/**
	 * Writes and records it, if the guard holds and nothing is recorded; else looks.
	 * @param suffices whether the guard is all that there is to compare
	 */
	private Mono<Version> writeOnce(Guard guard, boolean suffices) {
		if (!suffices) {
			return lookAndWriteOnce();
		}
		return this.attempt
			.execute(this.statements.both(statement(guard), record(null), this.attempt.commitLevel()), Step.STORE,
					Effect.TRANSACTION)
			.flatMap(result -> result.wasApplied() ? Mono.just(this.identity) : lookAgain());
	}

	private Mono<Version> lookAndWriteOnce() {
		if (this.attempt.isLate()) {
			return Mono.error(Failures.contention(this.attempt.required()));
		}
		return read().flatMap(found -> {
			if (found.outcome() != null) {
				return told(found.outcome());
			}
			if (hasExpired()) {
				return Mono.error(Failures.expired(this.attempt.required()));
			}
			Version current = found.identityNow();
			return this.condition.holdsFor(current)
					? writeOnce(this.condition.isNone() ? new Guard.Always() : found.guard(), true) : notMet(current);
		});
	}

	/**
	 * Whether the value would be gone at once. It expires by the identity that the first
	 * request with its idempotency key was given, and would remove what others have
	 * written.
	 */
	private boolean hasExpired() {
		Ttl ttl = (this.content != null) ? this.content.ttl() : null;
		return ttl != null && ttl.expiresAtMillis(this.identity.millis()) <= this.store.time().millis();
	}

	/** Records that the condition does not hold, before the client learns it. */
	private Mono<Version> notMet(@Nullable Version current) {
		return this.attempt.execute(record(new ConditionNotMetException(current)), Step.STORE, Effect.TRANSACTION)
			.flatMap(result -> result.wasApplied() ? Mono.error(new ConditionNotMetException(current)) : lookAgain());
	}

	/** Looks why a comparison has failed: perhaps a repeat has done the write. */
	private Mono<Version> lookAgain() {
		this.isRepeat = true;
		return lookAndWriteOnce();
	}

	/**
	 * The record of what has become of the request.
	 * @param unmet null if it is done
	 */
	private BoundStatement record(@Nullable ConditionNotMetException unmet) {
		return this.statements.record(this.key, VersionCell.of(this.identity), RequestNames.outcome(unmet),
				ttlSeconds(this.store.settings().retention().plus(this.store.settings().writeTimeout()),
						this.store.time().millis()));
	}

	private Mono<Version> told(ByteBuffer outcome) {
		ConditionNotMetException unmet = RequestNames.unmet(outcome);
		return (unmet != null) ? Mono.error(unmet) : Mono.just(this.identity);
	}

	/**
	 * What a key has.
	 *
	 * @param identityNow the identity of a value that a reader gets; null for none
	 * @param guard holds as long as the entry stays
	 * @param outcome what has become of the request; null if that is not recorded
	 */
	private record Found(@Nullable Version identityNow, Guard guard, @Nullable ByteBuffer outcome) {
	}

}
