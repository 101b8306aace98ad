package io.kvorum.cassandra;

import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NodeUnavailableException;
import com.datastax.oss.driver.api.core.RequestThrottlingException;
import com.datastax.oss.driver.api.core.connection.BusyConnectionException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.CASWriteUnknownException;
import com.datastax.oss.driver.api.core.servererrors.DefaultWriteType;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.ServerError;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import com.datastax.oss.driver.internal.core.metadata.DefaultEndPoint;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

class FailuresTests {

	/** A key of a user, which the driver has put into a message. */
	private static final String KEY = "secret-key";

	private static final Node FIRST = node(1);

	private static final Node SECOND = node(2);

	/** A node of which only the address matters. */
	private static Node node(int number) {
		DefaultEndPoint address = new DefaultEndPoint(new InetSocketAddress("127.0.0." + number, 9042));
		return (Node) Proxy.newProxyInstance(Node.class.getClassLoader(), new Class<?>[] { Node.class },
				(proxy, method, arguments) -> switch (method.getName()) {
					case "getEndPoint" -> address;
					case "hashCode" -> number;
					case "equals" -> proxy.equals(arguments[0]);
					case "toString" -> "node " + number;
					default -> null;
				});
	}

	static Stream<Arguments> writesThatMayHaveHappened() {
		return Stream.of(
				arguments(new WriteTimeoutException(FIRST, DefaultConsistencyLevel.QUORUM, 1, 2, DefaultWriteType.CAS),
						"timeout"),
				arguments(
						new WriteTimeoutException(FIRST, DefaultConsistencyLevel.QUORUM, 0, 2, DefaultWriteType.SIMPLE),
						"timeout"),
				arguments(new CASWriteUnknownException(FIRST, DefaultConsistencyLevel.QUORUM, 1, 2), "write-failed"),
				arguments(new WriteFailureException(FIRST, DefaultConsistencyLevel.QUORUM, 1, 2, DefaultWriteType.CAS,
						1, Map.of()), "write-failed"),
				// The read in a transaction.
				arguments(new ReadTimeoutException(FIRST, DefaultConsistencyLevel.QUORUM, 1, 2, false), "timeout"),
				arguments(new DriverTimeoutException(KEY), "timeout"),
				arguments(new OverloadedException(FIRST, KEY), "overloaded"),
				arguments(new ServerError(FIRST, KEY), "internal-error"),
				arguments(new ClosedConnectionException(KEY), "disconnected"),
				arguments(new IllegalStateException(KEY), "disconnected"));
	}

	@ParameterizedTest
	@MethodSource("writesThatMayHaveHappened")
	void aWriteMayHaveHappenedUnlessTheFailureExcludesIt(Throwable failure, String reason) {
		OperationFailedException failed = Failures.of(failure, true, 2);

		assertThat(failed.mayHaveHappened()).isTrue();
		assertThat(failed.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
		assertThat(failed.mayRetry()).isTrue();
		assertThat(failed.required()).isEqualTo(2);
		assertThat(failed.acknowledged()).isLessThan(2);
		assertThat(failed.replicas()).extracting(ReplicaFailure::reason).containsExactly(reason);
		assertThat(failed.toString() + failed.replicas()).doesNotContain(KEY);
	}

	@ParameterizedTest
	@MethodSource("writesThatMayHaveHappened")
	void aReadHasNothingToHaveHappened(Throwable failure, String reason) {
		OperationFailedException failed = Failures.of(failure, false, 2);

		assertThat(failed.mayHaveHappened()).isFalse();
		assertThat(failed.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
		assertThat(failed.replicas()).extracting(ReplicaFailure::reason)
			.containsExactly(reason.equals("write-failed") ? "unreadable" : reason);
	}

	static Stream<Arguments> writesThatWereNotBegun() {
		return Stream.of(arguments(new NodeUnavailableException(FIRST), "away", "127.0.0.1:9042"),
				arguments(new BusyConnectionException(7), "overloaded", "cassandra"),
				arguments(new RequestThrottlingException(KEY), "overloaded", "cassandra"),
				arguments(new InvalidQueryException(FIRST, KEY), "refused", "127.0.0.1:9042"),
				arguments(AllNodesFailedException.fromErrors(List.of()), "away", "cassandra"));
	}

	@ParameterizedTest
	@MethodSource("writesThatWereNotBegun")
	void aWriteThatWasNotSentOrIsRefusedAsItIsWasNotBegun(Throwable failure, String reason, String node) {
		OperationFailedException failed = Failures.of(failure, true, 2);

		assertThat(failed.mayHaveHappened()).isFalse();
		assertThat(failed.kind()).isEqualTo(Kind.NOT_ACCEPTED);
		assertThat(failed.replicas()).containsExactly(new ReplicaFailure(node, reason, false, true));
		assertThat(failed.toString()).doesNotContain(KEY);
	}

	@Test
	void aQuorumThatIsNotThereIsNamedAndTheWriteHasNotHappened() {
		OperationFailedException failed = Failures
			.of(new UnavailableException(FIRST, DefaultConsistencyLevel.QUORUM, 3, 1), true, 2);

		assertThat(failed.mayHaveHappened()).isFalse();
		assertThat(failed.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
		assertThat(failed.required()).isEqualTo(3);
		assertThat(failed).hasMessage("1 of the 3 replicas are there");
	}

	@Test
	void ofSeveralNodesThatFailedEachIsNamedAndOneThatMayHaveWrittenDecides() {
		List<Map.Entry<Node, Throwable>> refused = List.of(Map.entry(FIRST, new NodeUnavailableException(FIRST)),
				Map.entry(SECOND, new UnavailableException(SECOND, DefaultConsistencyLevel.QUORUM, 2, 1)));
		OperationFailedException certain = Failures.of(AllNodesFailedException.fromErrors(refused), true, 2);
		assertThat(certain.mayHaveHappened()).isFalse();
		assertThat(certain.replicas()).extracting(ReplicaFailure::node)
			.containsExactlyInAnyOrder("127.0.0.1:9042", "127.0.0.2:9042");

		List<Map.Entry<Node, Throwable>> written = List.of(Map.entry(FIRST, new NodeUnavailableException(FIRST)),
				Map.entry(SECOND,
						new WriteTimeoutException(SECOND, DefaultConsistencyLevel.QUORUM, 1, 2, DefaultWriteType.CAS)));
		assertThat(Failures.of(AllNodesFailedException.fromErrors(written), true, 2).mayHaveHappened()).isTrue();
	}

	@Test
	void moreAcknowledgementsThanNeededAreNotTold() {
		// A transaction that was proposed by all and not committed.
		OperationFailedException failed = Failures
			.of(new WriteTimeoutException(FIRST, DefaultConsistencyLevel.ALL, 3, 3, DefaultWriteType.CAS), true, 3);

		assertThat(failed.acknowledged()).isEqualTo(2);
	}

	@Test
	void aFailureOfARequestThatAnEarlierOneMayHaveDoneIsUnclear() {
		OperationFailedException unclear = Failures.unclear(Failures.notBegun(2, "no node"));

		assertThat(unclear.mayHaveHappened()).isTrue();
		assertThat(unclear.mayRetry()).isTrue();
		assertThat(unclear.replicas()).allMatch(ReplicaFailure::mayHaveHappened);
		assertThat(Failures.unclear(unclear)).isSameAs(unclear);
	}

}
