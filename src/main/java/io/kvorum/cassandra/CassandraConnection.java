package io.kvorum.cassandra;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.QueryExecutionException;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import io.kvorum.cassandra.Failures.Effect;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.ReplicationPolicy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/**
 * The connection of a gateway to Cassandra. It is made in the background, as often as it
 * takes, so that a gateway starts and says why it serves nothing while Cassandra is away
 * or its schema is missing. Once it is there, the driver keeps it.
 */
public final class CassandraConnection {

	/** The version of schema.cql that this release reads and writes. */
	private static final int SCHEMA_VERSION = 1;

	/** The factor of a keyspace that is not known yet. */
	private static final int UNKNOWN = 0;

	private static final Duration FIRST_RETRY = Duration.ofMillis(500);

	private static final Duration LONGEST_RETRY = Duration.ofSeconds(5);

	/** Levels that wait for so many replicas, whatever the factor is. */
	private static final Set<Integer> NUMBERED = Set.of(1, 2, 3);

	private static final Logger logger = LoggerFactory.getLogger(CassandraConnection.class);

	private final Supplier<CompletionStage<CqlSession>> sessions;

	private final String keyspace;

	private volatile @Nullable CqlSession session;

	private volatile @Nullable Statements statements;

	private volatile String absence = "the gateway has not connected to Cassandra yet";

	private volatile Replication replication = new Replication(Map.of(), new ReplicationPolicy(1, 1));

	/**
	 * A connection that is not made yet.
	 * @param sessions opens a session, without a keyspace
	 * @param keyspace its name, as in CQL
	 */
	public CassandraConnection(Supplier<CompletionStage<CqlSession>> sessions, String keyspace) {
		this.sessions = sessions;
		this.keyspace = keyspace;
	}

	/** Connects; tries again until it has. */
	public Mono<Void> connect() {
		return Mono.defer(this::open)
			.flatMap(opened -> check(opened).then(Statements.prepare(opened, this.keyspace)))
			.doOnNext(prepared -> {
				this.statements = prepared;
				logger.info("Connected to Cassandra: keyspace {}, {} replicas of each key", this.keyspace,
						policyNow().factor());
			})
			.then()
			.doOnError(this::note)
			.retryWhen(Retry.backoff(Long.MAX_VALUE, FIRST_RETRY).maxBackoff(LONGEST_RETRY));
	}

	private Mono<CqlSession> open() {
		CqlSession opened = this.session;
		return (opened != null) ? Mono.just(opened) : Mono.fromCompletionStage(this.sessions)
			// It looks names up.
			.subscribeOn(Schedulers.boundedElastic())
			.doOnNext(session -> this.session = session);
	}

	/** Checks that the keyspace has the schema of this release. */
	private Mono<Void> check(CqlSession opened) {
		if (keyspace(opened).isEmpty()) {
			return Mono.error(new SchemaException("the keyspace %s does not exist".formatted(this.keyspace)));
		}
		return version(opened)
			.onErrorMap(InvalidQueryException.class,
					_ -> new SchemaException("the keyspace %s has no tables of Kvorum".formatted(this.keyspace)))
			.flatMap(version -> (version == SCHEMA_VERSION) ? Mono.empty()
					: Mono.error(
							new SchemaException("the schema of the keyspace %s has the version %d, this release has %d"
								.formatted(this.keyspace, version, SCHEMA_VERSION))));
	}

	private Mono<Integer> version(CqlSession opened) {
		SimpleStatement read = SimpleStatement
			.newInstance("SELECT version FROM %s.kvorum_schema WHERE id = 0".formatted(this.keyspace))
			.setConsistencyLevel(ConsistencyLevel.SERIAL)
			.setIdempotent(true);
		return Mono.fromCompletionStage(() -> opened.executeAsync(read)).flatMap(result -> {
			Row row = result.one();
			return (row != null) ? Mono.just(row.getInt("version")) : Mono.error(
					new SchemaException("the keyspace %s has no version of Kvorum's schema".formatted(this.keyspace)));
		});
	}

	private void note(Throwable ex) {
		String why = switch (ex) {
			case SchemaException _ -> ex.getMessage() + ": create it, see 'kvorum help schema'";
			case UnknownContactPointsException _ -> String.valueOf(ex.getMessage());
			case UnauthorizedException _ ->
				"Cassandra does not let the user of this gateway read the keyspace %s".formatted(this.keyspace);
			case QueryExecutionException _ -> "too few nodes of Cassandra answer (%s)".formatted(name(ex));
			default -> "no node of Cassandra can be reached (%s)".formatted(name(ex));
		};
		if (!why.equals(this.absence)) {
			this.absence = why;
			String detail = String.valueOf(ex.getMessage());
			logger.warn("The gateway serves nothing yet: {}{}", why, why.contains(detail) ? "" : ". " + detail);
		}
	}

	private static String name(Throwable ex) {
		return ex.getClass().getSimpleName();
	}

	/** Closes the session. */
	public Mono<Void> close() {
		CqlSession opened = this.session;
		this.statements = null;
		this.absence = "the gateway is stopping";
		return (opened != null) ? Mono.fromCompletionStage(opened::closeAsync) : Mono.empty();
	}

	/**
	 * Reads the version of the schema, as a check of everything on the way to a quorum.
	 * Fails with an {@link OperationFailedException}.
	 */
	public Mono<Void> probe() {
		return Mono.defer(() -> {
			CqlSession opened = this.session;
			if (this.statements == null || opened == null) {
				return Mono.error(Failures.notBegun(1, this.absence));
			}
			return version(opened).onErrorMap(ex -> Failures.of(ex, Effect.READ, 1)).then();
		});
	}

	/**
	 * The statements; throws an {@link OperationFailedException} while there are none.
	 */
	Statements statements() {
		Statements prepared = this.statements;
		if (prepared == null) {
			throw Failures.notBegun(1, this.absence);
		}
		return prepared;
	}

	CqlSession session() {
		CqlSession opened = this.session;
		if (opened == null) {
			throw Failures.notBegun(1, this.absence);
		}
		return opened;
	}

	/** Why nothing can be served; null if it can. */
	public @Nullable String absence() {
		return (this.statements != null) ? null : this.absence;
	}

	/**
	 * The replication of the keyspace, as it is now.
	 * @throws OperationFailedException if it is not known yet
	 */
	ReplicationPolicy policy() {
		statements();
		return policyNow();
	}

	private ReplicationPolicy policyNow() {
		Map<String, String> now = keyspace(session()).map(KeyspaceMetadata::getReplication).orElse(Map.of());
		Replication known = this.replication;
		// The driver knows at once when the keyspace is altered.
		if (!now.isEmpty() && !known.options().equals(now)) {
			known = new Replication(now, policyOf(factorOf(now)));
			this.replication = known;
		}
		return known.policy();
	}

	/** The number of replicas of each key; 0 while it is not known. */
	public int replicas() {
		return (this.statements != null) ? policyNow().factor() : UNKNOWN;
	}

	private Optional<KeyspaceMetadata> keyspace(CqlSession opened) {
		return opened.getMetadata().getKeyspace(CqlIdentifier.fromCql(this.keyspace));
	}

	/**
	 * The replicas of each key, of all data centres together.
	 * @param replication the options of the keyspace: {@code class}, and numbers
	 */
	static int factorOf(Map<String, String> replication) {
		return replication.entrySet()
			.stream()
			.filter(option -> !option.getKey().equals("class"))
			// 3/1 has a transient replica among the three.
			.mapToInt(option -> Integer.parseInt(option.getValue().split("/", -1)[0]))
			.sum();
	}

	/** The policy of a keyspace: Cassandra has a level for some numbers only. */
	static ReplicationPolicy policyOf(int factor) {
		Set<Integer> acks = new TreeSet<>(NUMBERED);
		acks.add(factor / 2 + 1);
		acks.add(factor);
		acks.removeIf(ack -> ack > factor);
		return ReplicationPolicy.fixed(factor, acks);
	}

	/** The nodes that the driver knows. */
	public List<CassandraNode> nodes() {
		CqlSession opened = this.session;
		Collection<Node> nodes = (opened != null) ? opened.getMetadata().getNodes().values() : List.of();
		return nodes.stream().map(CassandraConnection::describe).toList();
	}

	private static CassandraNode describe(Node node) {
		return new CassandraNode(String.valueOf(node.getHostId()), Failures.address(node),
				String.valueOf(node.getDatacenter()), String.valueOf(node.getRack()),
				String.valueOf(node.getCassandraVersion()), node.getState() == NodeState.UP, node.getOpenConnections());
	}

	/** The options of the keyspace, and what follows from them. */
	private record Replication(Map<String, String> options, ReplicationPolicy policy) {
	}

	/** The schema is missing, or of another release. */
	private static final class SchemaException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		SchemaException(String message) {
			super(message, null, false, false);
		}

	}

}
