package io.kvorum.cassandra;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import io.kvorum.cassandra.CassandraStore.Attempt;
import io.kvorum.cassandra.Failures.Effect;
import io.kvorum.kv.Version;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.RequestDigest;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The table of requests: which write an idempotency key stands for, by the identity that
 * its first request gave it.
 */
final class RequestNames {

	/** The record of a request whose write was done. */
	private static final byte DONE = 0;

	/** The record of one whose condition did not hold, followed by what was there. */
	private static final byte NOT_MET = 1;

	/** The time for which a row stays that no request uses any more. */
	private static final Duration MARGIN = Duration.ofMinutes(1);

	private final CassandraStore store;

	private final Attempt attempt;

	RequestNames(CassandraStore store, Attempt attempt) {
		this.store = store;
		this.attempt = attempt;
	}

	/**
	 * Finds the identity of a write.
	 * @param identity that of this request, if it is the first one
	 */
	Mono<Version> find(IdempotencyKey name, RequestDigest digest, Version identity) {
		ByteBuffer named = bytes(name);
		ByteBuffer told = bytes(digest);
		ByteBuffer id = VersionCell.of(identity);
		return this.attempt
			.execute(this.attempt.statements().bind(named, told, id, expiresAtMillis(), ttlSeconds()), Step.PREPARE,
					Effect.TRANSACTION)
			.flatMap(result -> result.wasApplied() ? Mono.just(identity) : found(result, named, told, id, identity));
	}

	private Mono<Version> found(AsyncResultSet result, ByteBuffer name, ByteBuffer digest, ByteBuffer id,
			Version identity) {
		Row row = result.one();
		ByteBuffer first = CassandraStore.cell(row, "id");
		if (row == null || first == null) {
			// It has ended in between.
			return Mono.error(Failures.contention(this.attempt.required()));
		}
		if (row.getLong("expires") <= this.store.time().millis()) {
			return this.attempt
				.execute(this.attempt.statements().rebind(name, digest, id, expiresAtMillis(), ttlSeconds(), first),
						Step.PREPARE, Effect.TRANSACTION)
				.flatMap(again -> again.wasApplied() ? Mono.just(identity)
						: Mono.error(Failures.contention(this.attempt.required())));
		}
		return digest.equals(CassandraStore.cell(row, "digest")) ? Mono.just(VersionCell.identity(first))
				: Mono.error(Failures.reusedKey(this.attempt.required()));
	}

	private long expiresAtMillis() {
		return this.store.time().millis() + this.store.settings().retention().toMillis();
	}

	private int ttlSeconds() {
		return (int) this.store.settings().retention().plus(MARGIN).toSeconds();
	}

	/** The row of an idempotency key; no two keys have the same. */
	static ByteBuffer bytes(IdempotencyKey name) {
		byte[] caller = name.caller().getBytes(StandardCharsets.UTF_8);
		byte[] text = name.name().getBytes(StandardCharsets.UTF_8);
		return ByteBuffer.allocate(Integer.BYTES + caller.length + text.length)
			.putInt(caller.length)
			.put(caller)
			.put(text)
			.flip();
	}

	static ByteBuffer bytes(RequestDigest digest) {
		return ByteBuffer.allocate(2 * Long.BYTES).putLong(digest.high()).putLong(digest.low()).flip();
	}

	/**
	 * The record of what has become of a request.
	 * @param unmet null if it is done
	 */
	static ByteBuffer outcome(@Nullable ConditionNotMetException unmet) {
		if (unmet == null) {
			return ByteBuffer.wrap(new byte[] { DONE });
		}
		Version current = (unmet.current() != null) ? unmet.current() : Version.ABSENT;
		return ByteBuffer.allocate(1 + 2 * Long.BYTES)
			.put(NOT_MET)
			.putLong(current.timestamp())
			.putLong(current.node())
			.flip();
	}

	/** Why a request was not done; null if it was. */
	static @Nullable ConditionNotMetException unmet(ByteBuffer outcome) {
		if (outcome.get(outcome.position()) == DONE) {
			return null;
		}
		Version current = VersionCell.identity(outcome.duplicate().position(outcome.position() + 1));
		return new ConditionNotMetException(current.equals(Version.ABSENT) ? null : current);
	}

}
