package io.kvorum.cassandra;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.Statement;
import io.kvorum.cassandra.Failures.Effect;
import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationEvents;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.operation.RequestDigest;
import io.kvorum.operation.WriteOptions;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Keys and values in a keyspace of Cassandra.
 * <p>
 * <b>Linearizable</b> operations are Cassandra's lightweight transactions: Paxos among
 * the replicas of a key. A read of the default level is a serial read, one of all
 * replicas a plain one, which sees each acknowledged transaction. <b>Eventual</b>
 * operations are plain reads and writes: the newest timestamp wins, by the clocks of the
 * gateways. Between the two kinds on one key there is no order.
 * <p>
 * A write is sent once. Whatever does not exclude that it happened is reported as
 * unknown.
 */
public final class CassandraStore implements KeyValueStore {

	private final CassandraConnection connection;

	private final CassandraSettings settings;

	private final long gateway;

	private final VersionSource versions;

	private final TimeSource time;

	private final Supplier<Executor> callers;

	private final OperationEvents events;

	private final @Nullable Takeover takeover;

	/**
	 * Creates the store.
	 * @param gateway a number of this process; two processes never have the same
	 * @param takeover takes keys over from other nodes; null for none
	 * @param callers the executor of the calling thread, on which results arrive
	 */
	public CassandraStore(CassandraConnection connection, CassandraSettings settings, TimeSource time, long gateway,
			Supplier<Executor> callers, OperationEvents events, @Nullable Takeover takeover) {
		this.connection = connection;
		this.settings = settings;
		this.gateway = gateway;
		this.versions = new VersionSource(time, gateway);
		this.time = time;
		this.callers = callers;
		this.events = events;
		this.takeover = takeover;
	}

	/** Why nothing can be served; null if it can. */
	public @Nullable String absence() {
		String absence = this.connection.absence();
		return (absence != null || this.takeover == null) ? absence : this.takeover.obstacle();
	}

	/** The number of this process. */
	public long gateway() {
		return this.gateway;
	}

	@Override
	public ReplicationPolicy policy() {
		return this.connection.policy();
	}

	@Override
	public Mono<Live> get(Key key, Replicas asked, @Nullable Duration timeout, OperationObserver observer) {
		return run(Operation.GET, key, asked, this.settings.readTimeout(), timeout, observer, UnaryOperator.identity(),
				attempt -> attempt
					.execute(attempt.statements().read(bytes(key), attempt.readLevel()), Step.READ, Effect.READ)
					.mapNotNull(result -> live(cell(result.one(), "entry"))));
	}

	/** The entry in a cell, if it is one that a reader gets now. */
	@Nullable Live live(@Nullable ByteBuffer cell) {
		Live live = (cell != null) ? StoredEntry.decode(cell) : null;
		return (live != null && live.isVisibleAt(this.time.millis())) ? live : null;
	}

	static @Nullable ByteBuffer cell(@Nullable Row row, String column) {
		return (row != null) ? row.getByteBuffer(column) : null;
	}

	static ByteBuffer bytes(Key key) {
		return ByteBuffer.wrap(key.bytes());
	}

	@Override
	public Mono<Version> put(Key key, WriteOptions options, String contentType, Value value, @Nullable Ttl ttl,
			OperationObserver observer) {
		RequestDigest digest = (options.idempotencyKey() != null)
				? RequestDigest.ofPut(key, options, contentType, value, ttl) : null;
		return write(Operation.PUT, key, options, new Content(contentType, value, ttl), digest, observer);
	}

	@Override
	public Mono<Version> delete(Key key, WriteOptions options, OperationObserver observer) {
		RequestDigest digest = (options.idempotencyKey() != null) ? RequestDigest.ofDelete(key, options) : null;
		return write(Operation.DELETE, key, options, null, digest, observer);
	}

	private Mono<Version> write(Operation operation, Key key, WriteOptions options, @Nullable Content content,
			@Nullable RequestDigest digest, OperationObserver observer) {
		// Until its idempotency key is looked up, an earlier request may have done it.
		UnaryOperator<OperationFailedException> refusals = (digest != null) ? Failures::unclear
				: UnaryOperator.identity();
		return run(operation, key, options.replicas(), this.settings.writeTimeout(), options.timeout(), observer,
				refusals, attempt -> {
					if (!attempt.isLinearizable() && !options.condition().isNone()) {
						throw new IllegalArgumentException(
								"a condition needs a linearizable write, not " + options.replicas());
					}
					return new KeyWrite(this, attempt, key, options.condition(), content, options.idempotencyKey(),
							digest)
						.run();
				});
	}

	Version nextVersion() {
		return this.versions.next();
	}

	TimeSource time() {
		return this.time;
	}

	CassandraSettings settings() {
		return this.settings;
	}

	@Override
	public @Nullable OperationFailedException refuseWrite(Operation operation, Key key, Replicas asked,
			int valueBytes) {
		String absence = absence();
		return (absence != null) ? Failures.notBegun(asked.ack(), absence) : null;
	}

	/**
	 * Opens no range: rows are in the order of their hashes. See decision 46.
	 */
	@Override
	public RangeCursor range(RangeQuery query, OperationObserver observer) {
		throw new OperationFailedException(Kind.NOT_SUPPORTED, "Cassandra keeps keys in the order of their hashes", 0,
				0, false, false, List.of());
	}

	/**
	 * Runs an operation by the policy of now: the keyspace may have been altered since
	 * the request was parsed, as while its body arrived.
	 * @param refusals makes what is told of the failure of one that was not begun
	 */
	private <T> Mono<T> run(Operation operation, Key key, Replicas given, Duration limit, @Nullable Duration timeout,
			OperationObserver observer, UnaryOperator<OperationFailedException> refusals,
			Function<Attempt, Mono<T>> steps) {
		return Mono.defer(() -> {
			Executor caller = this.callers.get();
			String absence = absence();
			if (absence != null) {
				// Nothing is looked up: this request was not done, an earlier one may be.
				return Mono.error(Failures.notBegun(given.ack(), absence));
			}
			ReplicationPolicy policy = policy();
			Replicas asked = policy.present(given);
			if (!policy.allows(asked.ack(), asked.from())) {
				return Mono.error(refusals
					.apply(Failures.notBegun(asked.ack(), "the replication factor of the keyspace has changed")));
			}
			Consistency consistency = policy.consistencyOf(asked);
			Duration longest = (timeout != null && timeout.compareTo(limit) < 0) ? timeout : limit;
			observer.began(asked, consistency);
			Attempt attempt = new Attempt(asked, consistency, Deadline.after(this.time, longest), observer);
			Takeover before = this.takeover;
			Mono<T> result = (before == null) ? steps.apply(attempt)
					: before.of(key, attempt)
						.onErrorMap(OperationFailedException.class, refusals)
						.then(Mono.defer(() -> steps.apply(attempt)));
			return result.publishOn(Schedulers.fromExecutor(caller))
				.doOnSuccess(_ -> decided(operation, consistency, Outcome.REACHED, observer))
				.doOnError(error -> decided(operation, consistency, outcome(error), observer));
		});
	}

	private static Outcome outcome(Throwable error) {
		return switch (error) {
			case ConditionNotMetException _ -> Outcome.CONDITION_NOT_MET;
			case OperationFailedException ex -> ex.outcome();
			default -> Outcome.UNKNOWN;
		};
	}

	private void decided(Operation operation, Consistency consistency, Outcome outcome, OperationObserver observer) {
		this.events.decided(operation, consistency, outcome);
		observer.decided(outcome);
	}

	/**
	 * What a put stores.
	 *
	 * @param ttl null if it does not expire
	 */
	record Content(String contentType, Value value, @Nullable Ttl ttl) {
	}

	/** One operation: its level, and the time that it has. */
	final class Attempt {

		private final Replicas asked;

		private final Consistency consistency;

		private final Deadline deadline;

		private final OperationObserver observer;

		Attempt(Replicas asked, Consistency consistency, Deadline deadline, OperationObserver observer) {
			this.asked = asked;
			this.consistency = consistency;
			this.deadline = deadline;
			this.observer = observer;
		}

		boolean isLinearizable() {
			return this.consistency == Consistency.LINEARIZABLE;
		}

		int required() {
			return this.asked.ack();
		}

		/** The level of a read. */
		ConsistencyLevel readLevel() {
			return Levels.ofRead(this.asked, isLinearizable());
		}

		/** The level of a write without a record of its request. */
		ConsistencyLevel writeLevel() {
			return Levels.of(this.asked);
		}

		/** The level at which a write with a record of its request is committed. */
		ConsistencyLevel commitLevel() {
			return Levels.ofCommit(this.asked, isLinearizable());
		}

		Statements statements() {
			return CassandraStore.this.connection.statements();
		}

		/** The time that is left, never zero. */
		Duration left() {
			return Duration.ofNanos(Math.max(1, this.deadline.remainingNanos(CassandraStore.this.time)));
		}

		boolean isLate() {
			return this.deadline.isPast(CassandraStore.this.time);
		}

		/**
		 * Executes a statement within the time that is left. Fails with an
		 * {@link OperationFailedException}.
		 */
		Mono<AsyncResultSet> execute(Statement<?> statement, Step step, Effect effect) {
			return Mono.defer(() -> {
				long begun = CassandraStore.this.time.nanos();
				Statement<?> limited = statement.setTimeout(left());
				return Mono.fromCompletionStage(() -> CassandraStore.this.connection.session().executeAsync(limited))
					.onErrorMap(ex -> !(ex instanceof OperationFailedException),
							ex -> Failures.of(ex, effect, required()))
					.doOnTerminate(() -> this.observer.took(step, CassandraStore.this.time.nanos() - begun));
			});
		}

	}

}
