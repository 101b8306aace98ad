package io.kvorum.cassandra;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.retry.RetryDecision;
import com.datastax.oss.driver.api.core.retry.RetryVerdict;
import com.datastax.oss.driver.api.core.servererrors.CASWriteUnknownException;
import com.datastax.oss.driver.api.core.servererrors.CoordinatorException;
import com.datastax.oss.driver.api.core.servererrors.DefaultWriteType;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.ServerError;
import com.datastax.oss.driver.api.core.servererrors.WriteType;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("What the driver repeats")
class CassandraRetriesTests {

	private static final SimpleStatement READ = SimpleStatement.newInstance("SELECT").setIdempotent(true);

	private static final SimpleStatement WRITE = SimpleStatement.newInstance("UPDATE").setIdempotent(false);

	private static final SimpleStatement UNMARKED = SimpleStatement.newInstance("UPDATE");

	private final CassandraRetries retries = new CassandraRetries(
			(DriverContext) Proxy.newProxyInstance(DriverContext.class.getClassLoader(),
					new Class<?>[] { DriverContext.class }, (_, _, _) -> "session"),
			"profile");

	@ParameterizedTest
	@EnumSource(DefaultConsistencyLevel.class)
	@DisplayName("missing replicas: a read, and a transaction that was not proposed, once; no other write")
	void unavailable(ConsistencyLevel level) {
		assertThat(unavailable(READ, level, 0)).isEqualTo(RetryDecision.RETRY_NEXT);
		assertThat(unavailable(READ, level, 1)).isEqualTo(RetryDecision.RETHROW);
		for (SimpleStatement write : new SimpleStatement[] { WRITE, UNMARKED }) {
			assertThat(unavailable(write, level, 0))
				.isEqualTo(level.isSerial() ? RetryDecision.RETRY_NEXT : RetryDecision.RETHROW);
			assertThat(unavailable(write, level, 1)).isEqualTo(RetryDecision.RETHROW);
		}
	}

	private RetryDecision unavailable(SimpleStatement statement, ConsistencyLevel level, int retryCount) {
		return this.retries.onUnavailableVerdict(statement, level, 2, 1, retryCount).getRetryDecision();
	}

	@Test
	@DisplayName("a read that has timed out: a read once, if enough replicas have answered; no write")
	void readTimeout() {
		assertThat(readTimeout(READ, 2, 0)).isEqualTo(RetryDecision.RETRY_SAME);
		assertThat(readTimeout(READ, 2, 1)).isEqualTo(RetryDecision.RETHROW);
		assertThat(readTimeout(READ, 1, 0)).isEqualTo(RetryDecision.RETHROW);
		assertThat(readTimeout(WRITE, 2, 0)).isEqualTo(RetryDecision.RETHROW);
		assertThat(readTimeout(UNMARKED, 2, 0)).isEqualTo(RetryDecision.RETHROW);
	}

	private RetryDecision readTimeout(SimpleStatement statement, int received, int retryCount) {
		return this.retries
			.onReadTimeoutVerdict(statement, DefaultConsistencyLevel.SERIAL, 2, received, false, retryCount)
			.getRetryDecision();
	}

	@Test
	@DisplayName("a read whose connection or coordinator has failed: on the next node; no write, whatever has failed")
	void failed() {
		List<Throwable> aborts = List.of(new ClosedConnectionException("closed"), new HeartbeatException(
				new InetSocketAddress(InetAddress.getLoopbackAddress(), 9042), "lost", new IOException("lost")));
		List<CoordinatorException> errors = List.of(new OverloadedException(FailuresTests.NODE),
				new ServerError(FailuresTests.NODE, "error"),
				new CASWriteUnknownException(FailuresTests.NODE, DefaultConsistencyLevel.SERIAL, 1, 2));
		for (SimpleStatement statement : List.of(READ, WRITE, UNMARKED)) {
			RetryDecision expected = statement.equals(READ) ? RetryDecision.RETRY_NEXT : RetryDecision.RETHROW;
			assertThat(aborts).extracting(abort -> this.retries.onRequestAbortedVerdict(statement, abort, 0))
				.extracting(RetryVerdict::getRetryDecision)
				.containsOnly(expected);
			assertThat(errors).extracting(error -> this.retries.onErrorResponseVerdict(statement, error, 0))
				.extracting(RetryVerdict::getRetryDecision)
				.containsOnly(expected);
			for (WriteType type : DefaultWriteType.values()) {
				assertThat(this.retries.onWriteTimeoutVerdict(statement, DefaultConsistencyLevel.QUORUM, type, 2, 2, 0)
					.getRetryDecision()).isEqualTo(RetryDecision.RETHROW);
			}
		}
	}

}
