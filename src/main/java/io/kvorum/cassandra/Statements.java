package io.kvorum.cassandra;

import java.nio.ByteBuffer;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The statements of a gateway, prepared. None of them that writes is idempotent for the
 * driver: it repeats only what was certainly not done.
 */
final class Statements {

	/** Selects the row of the entry itself: its {@code request} is empty. */
	private static final String WHERE = " WHERE key = ? AND request = 0x";

	private static final String UPDATE = "UPDATE %s.entities USING TTL ? SET version = ?, entry = ?" + WHERE;

	private static final String DELETE = "DELETE FROM %s.entities" + WHERE;

	/** The row of a key that was taken over. The identity of a request is longer. */
	private static final String TAKEN = "0x00";

	/**
	 * Always holds, since {@code never} is null in every row. It makes an unconditional
	 * write a transaction.
	 */
	private static final String ALWAYS = " IF never = null";

	private static final String IF_VERSION = " IF version = ?";

	private static final String IF_ENTRY = " IF entry = ?";

	private final PreparedStatement read;

	private final PreparedStatement readAll;

	private final Writes puts;

	private final Writes deletes;

	private final PreparedStatement record;

	private final PreparedStatement bind;

	private final PreparedStatement rebind;

	private final PreparedStatement taken;

	private final PreparedStatement take;

	private final PreparedStatement takeDelete;

	private final PreparedStatement setTaken;

	private Statements(PreparedStatement read, PreparedStatement readAll, Writes puts, Writes deletes,
			PreparedStatement record, PreparedStatement bind, PreparedStatement rebind, Taking taking) {
		this.read = read;
		this.readAll = readAll;
		this.puts = puts;
		this.deletes = deletes;
		this.record = record;
		this.bind = bind;
		this.rebind = rebind;
		this.taken = taking.taken;
		this.take = taking.take;
		this.takeDelete = taking.takeDelete;
		this.setTaken = taking.setTaken;
	}

	/** Prepares the statements. Fails with an exception of the driver. */
	static Mono<Statements> prepare(CqlSession session, String keyspace) {
		Mono<PreparedStatement> read = prepare(session, "SELECT entry FROM %s.entities" + WHERE, keyspace);
		Mono<PreparedStatement> readAll = prepare(session,
				"SELECT request, version, entry FROM %s.entities WHERE key = ? AND request IN (0x, ?)", keyspace);
		Mono<PreparedStatement> record = prepare(session,
				"INSERT INTO %s.entities (key, request, entry) VALUES (?, ?, ?) IF NOT EXISTS USING TTL ?", keyspace);
		Mono<PreparedStatement> bind = prepare(session,
				"INSERT INTO %s.requests (name, digest, id, expires) VALUES (?, ?, ?, ?) IF NOT EXISTS USING TTL ?",
				keyspace);
		Mono<PreparedStatement> rebind = prepare(session,
				"UPDATE %s.requests USING TTL ? SET digest = ?, id = ?, expires = ? WHERE name = ? IF id = ?",
				keyspace);
		Mono<Taking> taking = Mono
			.zip(prepare(session, "SELECT key FROM %s.entities WHERE key = ? AND request = " + TAKEN, keyspace),
					prepare(session,
							"UPDATE %s.entities USING TIMESTAMP ? AND TTL ? SET version = ?, entry = ?" + WHERE,
							keyspace),
					prepare(session, "DELETE FROM %s.entities USING TIMESTAMP ?" + WHERE, keyspace),
					prepare(session, "INSERT INTO %s.entities (key, request) VALUES (?, " + TAKEN + ")", keyspace))
			.map(all -> new Taking(all.getT1(), all.getT2(), all.getT3(), all.getT4()));
		return Mono
			.zip(read, readAll, writes(session, UPDATE, keyspace), writes(session, DELETE, keyspace), record, bind,
					rebind, taking)
			.map(all -> new Statements(all.getT1(), all.getT2(), all.getT3(), all.getT4(), all.getT5(), all.getT6(),
					all.getT7(), all.getT8()));
	}

	private static Mono<Writes> writes(CqlSession session, String write, String keyspace) {
		return Mono
			.zip(prepare(session, write, keyspace), prepare(session, write + ALWAYS, keyspace),
					prepare(session, write + IF_VERSION, keyspace), prepare(session, write + IF_ENTRY, keyspace))
			.map(all -> new Writes(all.getT1(), all.getT2(), all.getT3(), all.getT4()));
	}

	private static Mono<PreparedStatement> prepare(CqlSession session, String cql, String keyspace) {
		return Mono.fromCompletionStage(() -> session.prepareAsync(cql.formatted(keyspace)));
	}

	/** Reads the cell of an entry: {@code entry}. */
	BoundStatement read(ByteBuffer key, ConsistencyLevel level) {
		return this.read.bind(key).setConsistencyLevel(level).setIdempotent(true);
	}

	/**
	 * Reads an entry and what has become of a request, in one step of the key's history:
	 * {@code request}, {@code version}, {@code entry}.
	 * @param request as in {@link #record}
	 */
	BoundStatement readAll(ByteBuffer key, ByteBuffer request) {
		return this.readAll.bind(key, request).setConsistencyLevel(ConsistencyLevel.SERIAL).setIdempotent(true);
	}

	/**
	 * Writes an entry, or removes it.
	 * @param level what a write without a guard waits for; what one with a guard waits
	 * for once it is decided
	 */
	BoundStatement write(ByteBuffer key, Change change, Guard guard, ConsistencyLevel level) {
		Writes writes = (change.entry() != null) ? this.puts : this.deletes;
		PreparedStatement statement = switch (guard) {
			case Guard.None _ -> writes.plain;
			case Guard.Always _ -> writes.always;
			case Guard.Version _ -> writes.ifVersion;
			case Guard.Entry _ -> writes.ifEntry;
		};
		BoundStatement bound = statement.bind()
			.setConsistencyLevel(level)
			.setSerialConsistencyLevel(ConsistencyLevel.SERIAL)
			.setIdempotent(false);
		int next = 0;
		if (change.entry() != null) {
			bound = bound.setInt(next++, change.ttlSeconds())
				.setByteBuffer(next++, (guard instanceof Guard.None) ? VersionCell.plain() : change.version())
				.setByteBuffer(next++, change.entry());
		}
		bound = bound.setByteBuffer(next++, key);
		return switch (guard) {
			case Guard.None _, Guard.Always _ -> bound;
			case Guard.Version(ByteBuffer version) -> bound.setByteBuffer(next, version);
			case Guard.Entry(ByteBuffer entry) -> bound.setByteBuffer(next, entry);
		};
	}

	/**
	 * Records what has become of a request, unless that is recorded.
	 * @param request the identity of its write
	 */
	BoundStatement record(ByteBuffer key, ByteBuffer request, ByteBuffer outcome, int ttlSeconds) {
		return serial(this.record.bind(key, request, outcome, ttlSeconds));
	}

	/**
	 * Both, or neither: a write, and the record of its request.
	 * @param level what it waits for once it is decided
	 */
	Statement<?> both(BoundStatement write, BoundStatement record, ConsistencyLevel level) {
		return BatchStatement.newInstance(DefaultBatchType.UNLOGGED, write, record)
			.setConsistencyLevel(level)
			.setSerialConsistencyLevel(ConsistencyLevel.SERIAL)
			.setIdempotent(false);
	}

	/** Looks whether a key was taken over: one row, or none. */
	BoundStatement taken(ByteBuffer key) {
		return this.taken.bind(key).setConsistencyLevel(ConsistencyLevel.QUORUM).setIdempotent(true);
	}

	/**
	 * Stores an entry that is taken over, or that it was deleted.
	 * @param timestamp below that of all that gateways write for themselves, so that what
	 * is taken over, however late and however often, never hides that
	 */
	BoundStatement take(ByteBuffer key, Change change, long timestamp) {
		BoundStatement bound = (change.entry() == null) ? this.takeDelete.bind(timestamp, key)
				: this.take.bind(timestamp, change.ttlSeconds(), change.version(), change.entry(), key);
		return bound.setConsistencyLevel(ConsistencyLevel.QUORUM).setIdempotent(false);
	}

	/** Says that a key was taken over, with an entry or without. */
	BoundStatement setTaken(ByteBuffer key) {
		return this.setTaken.bind(key).setConsistencyLevel(ConsistencyLevel.QUORUM).setIdempotent(false);
	}

	/** Binds an idempotency key to a request, unless another request has it. */
	BoundStatement bind(ByteBuffer name, ByteBuffer digest, ByteBuffer id, long expiresAtMillis, int ttlSeconds) {
		return serial(this.bind.bind(name, digest, id, expiresAtMillis, ttlSeconds));
	}

	/** Binds the idempotency key of an expired request to another one. */
	BoundStatement rebind(ByteBuffer name, ByteBuffer digest, ByteBuffer id, long expiresAtMillis, int ttlSeconds,
			ByteBuffer expiredId) {
		return serial(this.rebind.bind(ttlSeconds, digest, id, expiresAtMillis, name, expiredId));
	}

	private static BoundStatement serial(BoundStatement statement) {
		return statement.setConsistencyLevel(ConsistencyLevel.QUORUM)
			.setSerialConsistencyLevel(ConsistencyLevel.SERIAL)
			.setIdempotent(false);
	}

	/**
	 * A new content of a key.
	 *
	 * @param entry null to remove it
	 * @param version compared by later writes
	 * @param ttlSeconds the time after which Cassandra removes it; 0 for never
	 */
	record Change(@Nullable ByteBuffer entry, ByteBuffer version, int ttlSeconds) {
	}

	/** What a write compares, in one step with its change. */
	sealed interface Guard {

		/**
		 * Nothing, and it is not ordered with other writes: the newest timestamp wins.
		 */
		record None() implements Guard {
		}

		/** Nothing. */
		record Always() implements Guard {
		}

		/** The version is this one. */
		record Version(ByteBuffer version) implements Guard {
		}

		/** The entry is this one; null for none. */
		record Entry(@Nullable ByteBuffer entry) implements Guard {
		}

	}

	/** The statements of a takeover. */
	private record Taking(PreparedStatement taken, PreparedStatement take, PreparedStatement takeDelete,
			PreparedStatement setTaken) {
	}

	/** A write with each kind of guard. */
	private record Writes(PreparedStatement plain, PreparedStatement always, PreparedStatement ifVersion,
			PreparedStatement ifEntry) {
	}

}
