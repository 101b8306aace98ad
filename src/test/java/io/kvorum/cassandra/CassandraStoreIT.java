package io.kvorum.cassandra;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.KeyValueStoreContract;
import io.kvorum.operation.OperationEvents;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.operation.RequestDigest;
import io.kvorum.operation.WriteOptions;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.CassandraNodes;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The contract of the store that the API sees, on a node of Cassandra. */
@Tag("cassandra")
@DisplayName("The store in Cassandra keeps the contract of keys")
class CassandraStoreIT extends KeyValueStoreContract {

	private static final String KEYSPACE = "contract";

	private static @Nullable CassandraNodes nodes;

	private static @Nullable CassandraConnection connection;

	private static final ExecutorService thread = Executors
		.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());

	private static final Scheduler caller = Schedulers.fromExecutorService(thread);

	private final SteeredTime time = new SteeredTime();

	private @Nullable CassandraStore store;

	private boolean isPaused;

	@BeforeAll
	static void start() throws IOException, InterruptedException {
		CassandraNodes started = CassandraNodes.start(1,
				Path.of("target", "it", "CassandraStoreIT-" + System.nanoTime()).toAbsolutePath());
		nodes = started;
		started.createSchema(KEYSPACE, 1);
		CassandraConnection connecting = new CassandraConnection(
				() -> started.sessions().withKeyspace((CqlIdentifier) null).buildAsync(), KEYSPACE);
		Awaited.of(connecting.connect());
		connection = connecting;
	}

	@AfterAll
	static void stop() {
		if (connection != null) {
			Awaited.of(connection.close());
		}
		if (nodes != null) {
			nodes.close();
		}
	}

	private static CassandraNodes nodes() {
		if (nodes == null) {
			throw new IllegalStateException("Cassandra has not started");
		}
		return nodes;
	}

	@BeforeEach
	void empty() {
		CassandraConnection there = connection;
		if (there == null) {
			throw new IllegalStateException("there is no connection");
		}
		there.session().execute("TRUNCATE %s.entities".formatted(KEYSPACE));
		there.session().execute("TRUNCATE %s.requests".formatted(KEYSPACE));
		this.store = storeWith(null);
	}

	/** A store that takes keys over, or null for none. */
	CassandraStore storeWith(@Nullable Takeover takeover) {
		CassandraConnection there = connection;
		if (there == null) {
			throw new IllegalStateException("there is no connection");
		}
		return new CassandraStore(there,
				new CassandraSettings(KEYSPACE, Duration.ofSeconds(10), Duration.ofSeconds(10), RETENTION), this.time,
				7, () -> thread, OperationEvents.NONE, takeover);
	}

	SteeredTime time() {
		return this.time;
	}

	@AfterEach
	void resume() throws InterruptedException {
		if (this.isPaused) {
			nodes().resume(1);
		}
	}

	@Override
	protected KeyValueStore store() {
		if (this.store == null) {
			throw new IllegalStateException("there is no store");
		}
		return this.store;
	}

	@Override
	protected Scheduler caller() {
		return caller;
	}

	@Override
	protected void pass(Duration time) {
		this.time.pass(time);
	}

	@Override
	protected void fill() {
		Assumptions.abort("a gateway keeps nothing and has no limit of its own to reach: Cassandra refuses writes");
	}

	@Override
	protected void breakDown() {
		try {
			nodes().pause(1);
			this.isPaused = true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	@Test
	@DisplayName("a repeat whose value has expired since is not told to be done, and removes nothing")
	void expiredRepeat() {
		CassandraConnection there = connection;
		if (there == null) {
			throw new IllegalStateException("there is no connection");
		}
		Key key = Key.of("brief".getBytes(StandardCharsets.UTF_8));
		Replicas asked = store().policy().defaults();
		WriteOptions named = new WriteOptions(asked, Condition.NONE, new IdempotencyKey("", "name"), null);
		Value value = Value.of(new byte[1]);
		Ttl ttl = Ttl.parse("5s");
		// The first request was given its identity, and failed before it wrote.
		there.session()
			.execute(there.statements()
				.bind(RequestNames.bytes(new IdempotencyKey("", "name")),
						RequestNames.bytes(RequestDigest.ofPut(key, named, "text/plain", value, ttl)),
						VersionCell.of(new Version(this.time.millis() << Version.COUNTER_BITS, 7)),
						this.time.millis() + RETENTION.toMillis(), (int) RETENTION.toSeconds()));
		Value others = Value.of(new byte[2]);
		pass(Duration.ofSeconds(8));
		Awaited.of(store().put(key, WriteOptions.of(asked), "text/plain", others, null, OperationObserver.NONE));
		assertThatExceptionOfType(OperationFailedException.class)
			.isThrownBy(() -> Awaited.of(store().put(key, named, "text/plain", value, ttl, OperationObserver.NONE)))
			.satisfies(ex -> {
				assertThat(ex.mayHaveHappened()).isTrue();
				assertThat(ex.mayRetry()).isFalse();
			});
		assertThat(Awaited.of(store().get(key, asked, OperationObserver.NONE))).extracting(Live::value)
			.isEqualTo(others);
	}

	@Test
	@DisplayName("the default of a request is linearizable if the factor has changed since it was parsed; other numbers are refused")
	void factor() {
		int factor = store().policy().factor();
		Key key = Key.of("altered".getBytes(StandardCharsets.UTF_8));
		List<Consistency> begun = new CopyOnWriteArrayList<>();
		OperationObserver observer = new OperationObserver() {

			@Override
			public void began(Replicas asked, Consistency consistency) {
				assertThat(asked).isEqualTo(store().policy().defaults());
				begun.add(consistency);
			}

		};
		WriteOptions absent = new WriteOptions(Replicas.majorityOf(factor + 2), new Condition(null, Condition.Tags.ANY),
				null, null);
		Awaited.of(store().put(key, absent, "text/plain", Value.of(new byte[1]), null, observer));
		assertThat(begun).containsExactly(Consistency.LINEARIZABLE);
		WriteOptions named = WriteOptions.of(new Replicas(factor + 2, factor + 2));
		assertThatExceptionOfType(OperationFailedException.class)
			.isThrownBy(() -> Awaited
				.of(store().put(key, named, "text/plain", Value.of(new byte[1]), null, OperationObserver.NONE)))
			.satisfies(ex -> assertThat(ex.mayHaveHappened()).isFalse());
	}

}
