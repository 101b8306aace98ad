package io.kvorum.cassandra;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.stream.Stream;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NoNodeAvailableException;
import com.datastax.oss.driver.api.core.NodeUnavailableException;
import com.datastax.oss.driver.api.core.RequestThrottlingException;
import com.datastax.oss.driver.api.core.connection.BusyConnectionException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.ConnectionInitException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.BootstrappingException;
import com.datastax.oss.driver.api.core.servererrors.CASWriteUnknownException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.ProtocolError;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.ServerError;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import com.datastax.oss.driver.api.core.servererrors.TruncateException;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.WriteType;
import com.datastax.oss.driver.internal.core.metadata.DefaultEndPoint;
import io.kvorum.cassandra.Failures.Effect;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("A failure of the driver, as the failure of an operation")
class FailuresTests {

	private static final ConsistencyLevel QUORUM = DefaultConsistencyLevel.QUORUM;

	private static final ConsistencyLevel SERIAL = DefaultConsistencyLevel.SERIAL;

	/** A key that a text of the driver has in it. */
	private static final String SECRET = "patient-4711";

	static final Node NODE = node("10.0.0.7");

	/** What says that nothing was sent, or that a statement is refused as it is. */
	private static final List<Failure> NOT_BEGUN = List.of(
			new Failure(new NodeUnavailableException(NODE), "away", "10.0.0.7:9042"),
			new Failure(new NoNodeAvailableException(), "away", "cassandra"),
			new Failure(new ConnectionInitException(SECRET, new IOException(SECRET)), "away", "cassandra"),
			new Failure(new BusyConnectionException(SECRET), "overloaded", "cassandra"),
			new Failure(new RequestThrottlingException(SECRET), "overloaded", "cassandra"),
			new Failure(new BootstrappingException(NODE), "unavailable", "10.0.0.7:9042"),
			new Failure(new InvalidQueryException(NODE, SECRET), "refused", "10.0.0.7:9042"),
			new Failure(new SyntaxError(NODE, SECRET), "refused", "10.0.0.7:9042"),
			new Failure(new UnauthorizedException(NODE, SECRET), "refused", "10.0.0.7:9042"));

	/** What says nothing certain of a write, and what it is called. */
	private static final List<Failure> UNCERTAIN = List.of(
			new Failure(new DriverTimeoutException(SECRET), "timeout", "cassandra"),
			new Failure(new WriteTimeoutException(NODE, QUORUM, 1, 2, WriteType.SIMPLE), "timeout", "10.0.0.7:9042"),
			new Failure(new WriteTimeoutException(NODE, SERIAL, 0, 2, WriteType.CAS), "timeout", "10.0.0.7:9042"),
			new Failure(new ReadTimeoutException(NODE, SERIAL, 1, 2, false), "timeout", "10.0.0.7:9042"),
			new Failure(new WriteFailureException(NODE, QUORUM, 1, 2, WriteType.SIMPLE, 1, Map.of()), "write-failed",
					"10.0.0.7:9042"),
			new Failure(new ReadFailureException(NODE, SERIAL, 1, 2, 1, false, Map.of()), "write-failed",
					"10.0.0.7:9042"),
			new Failure(new CASWriteUnknownException(NODE, SERIAL, 1, 2), "write-failed", "10.0.0.7:9042"),
			new Failure(new OverloadedException(NODE, SECRET), "overloaded", "10.0.0.7:9042"),
			new Failure(new ServerError(NODE, SECRET), "internal-error", "10.0.0.7:9042"),
			new Failure(new ProtocolError(NODE, SECRET), "internal-error", "10.0.0.7:9042"),
			new Failure(new TruncateException(NODE, SECRET), "internal-error", "10.0.0.7:9042"),
			new Failure(new ClosedConnectionException(SECRET), "disconnected", "cassandra"),
			new Failure(new HeartbeatException(new InetSocketAddress("10.0.0.7", 9042), SECRET, new IOException()),
					"disconnected", "cassandra"),
			new Failure(new ClosedChannelException(), "disconnected", "cassandra"),
			new Failure(new IllegalStateException(SECRET), "disconnected", "cassandra"));

	private static Node node(String host) {
		return (Node) Proxy.newProxyInstance(Node.class.getClassLoader(), new Class<?>[] { Node.class },
				(_, method, args) -> switch (method.getName()) {
					case "getEndPoint" -> new DefaultEndPoint(new InetSocketAddress(host, 9042));
					case "hashCode" -> host.hashCode();
					case "equals" -> host.equals(String.valueOf(args[0]));
					default -> host;
				});
	}

	@ParameterizedTest
	@FieldSource("NOT_BEGUN")
	@DisplayName("nothing was sent: the operation is not accepted and did not happen")
	void notBegun(Failure failure) {
		for (Effect effect : Effect.values()) {
			OperationFailedException ex = Failures.of(failure.error(), effect, 2);

			assertThat(ex.kind()).isEqualTo(Kind.NOT_ACCEPTED);
			assertFails(ex, failure, false);
			assertThat(ex.required()).isEqualTo(2);
			assertThat(ex.acknowledged()).isZero();
		}
	}

	@ParameterizedTest
	@FieldSource("UNCERTAIN")
	@DisplayName("whatever else fails a write: it may have happened")
	void uncertain(Failure failure) {
		for (Effect effect : List.of(Effect.WRITE, Effect.TRANSACTION)) {
			OperationFailedException ex = Failures.of(failure.error(), effect, 2);

			assertThat(ex.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
			assertFails(ex, failure, true);
		}
	}

	@ParameterizedTest
	@FieldSource("UNCERTAIN")
	@DisplayName("a read changes nothing, whatever fails it")
	void read(Failure failure) {
		OperationFailedException ex = Failures.of(failure.error(), Effect.READ, 2);

		assertThat(ex.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
		assertFails(ex, failure.named(failure.reason().replace("write-failed", "unreadable")), false);
	}

	private static void assertFails(OperationFailedException ex, Failure failure, boolean mayHaveHappened) {
		assertThat(ex.mayHaveHappened()).as("may have happened").isEqualTo(mayHaveHappened);
		assertThat(ex.mayRetry()).isTrue();
		assertThat(ex.replicas())
			.containsExactly(new ReplicaFailure(failure.node(), failure.reason(), mayHaveHappened, true));
		assertThat(ex).hasNoCause().hasMessage("Cassandra has refused it (%s)".formatted(failure.reason()));
	}

	@ParameterizedTest
	@EnumSource(names = { "READ", "WRITE" })
	@DisplayName("replicas are missing before a read or a plain write: it did not happen, whatever the level")
	void unavailable(Effect effect) {
		for (ConsistencyLevel level : DefaultConsistencyLevel.values()) {
			assertUnavailable(Failures.of(new UnavailableException(NODE, level, 3, 2), effect, 1), false);
		}
	}

	@ParameterizedTest
	@EnumSource(DefaultConsistencyLevel.class)
	@DisplayName("replicas are missing for a transaction: it did not happen only if they were counted for its proposal")
	void unavailableTransaction(ConsistencyLevel level) {
		OperationFailedException ex = Failures.of(new UnavailableException(NODE, level, 3, 2), Effect.TRANSACTION, 1);

		assertUnavailable(ex, level != DefaultConsistencyLevel.SERIAL && level != DefaultConsistencyLevel.LOCAL_SERIAL);
	}

	private static void assertUnavailable(OperationFailedException ex, boolean mayHaveHappened) {
		assertThat(ex.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
		assertThat(ex.mayHaveHappened()).isEqualTo(mayHaveHappened);
		assertThat(ex).hasMessage("2 of the 3 replicas are there");
		assertThat(ex.required()).isEqualTo(3);
		assertThat(ex.acknowledged()).isZero();
		assertThat(ex.replicas())
			.containsExactly(new ReplicaFailure("10.0.0.7:9042", "unavailable", mayHaveHappened, true));
	}

	@Test
	@DisplayName("the numbers are those of Cassandra; fewer have acknowledged than were required, and none less than none")
	void numbers() {
		for (int required = 0; required <= 3; required++) {
			for (int received = 0; received <= 3; received++) {
				OperationFailedException ex = Failures
					.of(new WriteTimeoutException(NODE, QUORUM, received, required, WriteType.CAS), Effect.WRITE, 9);

				assertThat(ex.required()).isEqualTo(required);
				assertThat(ex.acknowledged()).isEqualTo((received < required) ? received : Math.max(0, required - 1));
			}
		}
	}

	@SeededTest
	@DisplayName("several nodes have failed: it may have happened if any of them may have done it")
	void severalNodes(long seed) {
		Generator random = new Generator(seed);
		List<Failure> all = Stream.concat(NOT_BEGUN.stream(), UNCERTAIN.stream()).toList();
		for (int i = 0; i < 500; i++) {
			List<Failure> failures = new ArrayList<>();
			List<Entry<Node, Throwable>> errors = new ArrayList<>();
			for (int node = random.below(4); node >= 0; node--) {
				Failure failure = random.oneOf(random.chance(70) ? NOT_BEGUN : all);
				failures.add(failure);
				errors.add(Map.entry(node("10.0.1." + node), failure.error()));
			}
			boolean isCertain = NOT_BEGUN.containsAll(failures);

			OperationFailedException ex = Failures.of(AllNodesFailedException.fromErrors(errors), Effect.TRANSACTION,
					2);

			assertThat(ex.mayHaveHappened()).as("%s", failures).isEqualTo(!isCertain);
			assertThat(ex.kind()).isEqualTo(isCertain ? Kind.NOT_ACCEPTED : Kind.NOT_ENOUGH_REPLICAS);
			assertThat(ex.replicas()).extracting(ReplicaFailure::reason)
				.containsExactlyInAnyOrderElementsOf(failures.stream().map(Failure::reason).toList());
			assertThat(ex.replicas()).filteredOn(ReplicaFailure::mayHaveHappened)
				.hasSize((int) failures.stream().filter(failure -> !NOT_BEGUN.contains(failure)).count());
			assertThat(ex.acknowledged()).isLessThan(ex.required());
			assertThat(ex).hasNoCause();
			assertThat(ex.getMessage()).startsWith("Cassandra has refused it (").doesNotContain(SECRET);
			assertThat(ex.replicas().toString()).doesNotContain(SECRET);
		}
	}

	@Test
	@DisplayName("one node has no connection, and another misses replicas: it is not overload, and did not happen")
	void awayAndUnavailable() {
		OperationFailedException ex = Failures
			.of(AllNodesFailedException.fromErrors(List.of(Map.entry(NODE, new NodeUnavailableException(NODE)),
					Map.entry(NODE, new UnavailableException(NODE, SERIAL, 2, 1)))), Effect.TRANSACTION, 2);

		assertThat(ex.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
		assertThat(ex.mayHaveHappened()).isFalse();
		assertThat(ex).hasMessage("1 of the 2 replicas are there");
	}

	@Test
	@DisplayName("a write that another request with its name may have done: never said not to have happened")
	void unclear() {
		for (OperationFailedException failure : List.of(Failures.notBegun(2, "no connection"), Failures.contention(2),
				Failures.of(new UnavailableException(NODE, SERIAL, 2, 1), Effect.READ, 2),
				Failures.of(new NoNodeAvailableException(), Effect.TRANSACTION, 2))) {
			OperationFailedException unclear = Failures.unclear(failure);

			assertThat(failure.mayHaveHappened()).isFalse();
			assertThat(unclear.mayHaveHappened()).isTrue();
			assertThat(unclear.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
			assertThat(unclear).hasMessage(failure.getMessage());
			assertThat(unclear.required()).isEqualTo(2);
			assertThat(unclear.replicas()).isNotEmpty();
		}
		OperationFailedException uncertain = Failures.of(new DriverTimeoutException(SECRET), Effect.WRITE, 2);
		assertThat(Failures.unclear(uncertain)).isSameAs(uncertain);
	}

	@Test
	@DisplayName("what the gateway refuses by itself: nothing was done")
	void refusals() {
		assertThat(Failures.notBegun(2, "no connection")).matches(ex -> !ex.mayHaveHappened() && ex.mayRetry())
			.hasMessage("no connection")
			.extracting(OperationFailedException::kind)
			.isEqualTo(Kind.NOT_ACCEPTED);
		assertThat(Failures.contention(2)).matches(ex -> !ex.mayHaveHappened() && ex.mayRetry())
			.extracting(OperationFailedException::kind)
			.isEqualTo(Kind.CONTENTION);
		assertThat(Failures.reusedKey(2)).matches(ex -> !ex.mayHaveHappened() && !ex.mayRetry())
			.extracting(OperationFailedException::kind)
			.isEqualTo(Kind.KEY_REUSED);
	}

	/** An error, and what the failure of its node is. */
	record Failure(Throwable error, String reason, String node) {

		Failure named(String name) {
			return new Failure(this.error, name, this.node);
		}

		@Override
		public String toString() {
			return this.error.getClass().getSimpleName();
		}

	}

}
