package io.kvorum.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.retry.RetryDecision;
import com.datastax.oss.driver.api.core.retry.RetryPolicy;
import com.datastax.oss.driver.api.core.servererrors.CoordinatorException;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import com.datastax.oss.driver.api.core.servererrors.WriteType;
import com.datastax.oss.driver.api.core.session.Request;

/**
 * What the driver repeats by itself: a read as by default, and a write only if its
 * transaction was certainly not proposed. The driver's default also repeats a transaction
 * whose replicas were missing when it was committed. It would be done twice, or be
 * compared with itself.
 */
@SuppressWarnings("deprecation") // The interface still requires its deprecated methods.
public final class CassandraRetries implements RetryPolicy {

	/**
	 * Called by the driver.
	 * @param context the session
	 * @param profileName the name of a profile of its configuration
	 */
	public CassandraRetries(DriverContext context, String profileName) {
	}

	@Override
	public RetryDecision onUnavailable(Request request, ConsistencyLevel level, int required, int alive,
			int retryCount) {
		return (retryCount == 0 && (isRead(request) || Failures.isBeforeProposal(level))) ? RetryDecision.RETRY_NEXT
				: RetryDecision.RETHROW;
	}

	@Override
	public RetryDecision onReadTimeout(Request request, ConsistencyLevel level, int required, int received,
			boolean hasData, int retryCount) {
		return (retryCount == 0 && isRead(request) && received >= required && !hasData) ? RetryDecision.RETRY_SAME
				: RetryDecision.RETHROW;
	}

	@Override
	public RetryDecision onWriteTimeout(Request request, ConsistencyLevel level, WriteType type, int required,
			int received, int retryCount) {
		return RetryDecision.RETHROW;
	}

	@Override
	public RetryDecision onRequestAborted(Request request, Throwable error, int retryCount) {
		return (isRead(request) && (error instanceof ClosedConnectionException || error instanceof HeartbeatException))
				? RetryDecision.RETRY_NEXT : RetryDecision.RETHROW;
	}

	@Override
	public RetryDecision onErrorResponse(Request request, CoordinatorException error, int retryCount) {
		return (isRead(request) && !(error instanceof ReadFailureException)) ? RetryDecision.RETRY_NEXT
				: RetryDecision.RETHROW;
	}

	/** Whether it is a read: a gateway marks no write as idempotent. */
	private static boolean isRead(Request request) {
		return Boolean.TRUE.equals(request.isIdempotent());
	}

	@Override
	public void close() {
		// It has nothing to close.
	}

}
