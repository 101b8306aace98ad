package io.kvorum.cassandra;

import java.net.SocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NodeUnavailableException;
import com.datastax.oss.driver.api.core.RequestThrottlingException;
import com.datastax.oss.driver.api.core.connection.BusyConnectionException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.ConnectionInitException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.BootstrappingException;
import com.datastax.oss.driver.api.core.servererrors.CoordinatorException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.QueryConsistencyException;
import com.datastax.oss.driver.api.core.servererrors.QueryValidationException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import org.jspecify.annotations.Nullable;

/**
 * Derives the failure of an operation from an exception of the driver. A write may have
 * happened unless the exception excludes it; the driver's texts are not passed on, since
 * they may have keys in them.
 */
final class Failures {

	/** The node of a failure that the driver does not blame on one. */
	private static final String CASSANDRA = "cassandra";

	private Failures() {
	}

	/** The failure of an operation that was not begun. */
	static OperationFailedException notBegun(int required, String why) {
		return new OperationFailedException(Kind.NOT_ACCEPTED, why, required, 0, false, true, List.of());
	}

	/** The failure of a conditional write to which others came in between. */
	static OperationFailedException contention(int required) {
		return new OperationFailedException(Kind.CONTENTION, "other writes of the key came in between", required, 0,
				false, true, List.of());
	}

	/** The failure of a repeat whose value would have expired. */
	static OperationFailedException expired(int required) {
		return new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS,
				"the value has expired since the first request, and is not known to be written", required, 0, true,
				false, List.of());
	}

	static OperationFailedException reusedKey(int required) {
		return new OperationFailedException(Kind.KEY_REUSED, "the idempotency key belongs to another write", required,
				0, false, false, List.of());
	}

	/** The same failure of a write that an earlier request may have done. */
	static OperationFailedException unclear(OperationFailedException failure) {
		return failure.mayHaveHappened() ? failure : new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS,
				String.valueOf(failure.getMessage()), failure.required(), failure.acknowledged(), true, true,
				failure.replicas().isEmpty()
						? List.of(new ReplicaFailure(CASSANDRA, String.valueOf(failure.getMessage()), true, true))
						: failure.replicas());
	}

	/**
	 * The failure of a statement.
	 * @param required the replicas that were asked for
	 */
	static OperationFailedException of(Throwable error, Effect effect, int required) {
		List<Throwable> causes = causes(error);
		List<ReplicaFailure> failures = causes.stream().map(cause -> replica(cause, effect)).toList();
		boolean mayHaveHappened = failures.stream().anyMatch(ReplicaFailure::mayHaveHappened);
		QueryConsistencyException told = first(causes, QueryConsistencyException.class);
		UnavailableException unavailable = first(causes, UnavailableException.class);
		int needed = (told != null) ? told.getBlockFor() : (unavailable != null) ? unavailable.getRequired() : required;
		int received = (told != null) ? Math.min(told.getReceived(), needed - 1) : 0;
		boolean isRefused = !mayHaveHappened && causes.stream().allMatch(Failures::isNotBegun);
		return new OperationFailedException(isRefused ? Kind.NOT_ACCEPTED : Kind.NOT_ENOUGH_REPLICAS,
				(unavailable != null) ? "%d of the %d replicas are there".formatted(unavailable.getAlive(), needed)
						: refusal(failures),
				needed, Math.max(0, received), mayHaveHappened, true, failures);
	}

	private static String refusal(List<ReplicaFailure> failures) {
		return "Cassandra has refused it (%s)"
			.formatted(String.join(", ", failures.stream().map(ReplicaFailure::reason).distinct().toList()));
	}

	/** What each node has failed with, if the driver has asked several. */
	private static List<Throwable> causes(Throwable error) {
		if (error instanceof AllNodesFailedException all && !all.getAllErrors().isEmpty()) {
			return all.getAllErrors().values().stream().flatMap(Collection::stream).toList();
		}
		return List.of(error);
	}

	private static <T> @Nullable T first(List<Throwable> causes, Class<T> type) {
		return causes.stream().filter(type::isInstance).map(type::cast).findFirst().orElse(null);
	}

	private static ReplicaFailure replica(Throwable cause, Effect effect) {
		return new ReplicaFailure(node(cause), reason(cause, effect),
				effect != Effect.READ && !isNotDone(cause, effect), true);
	}

	private static String node(Throwable cause) {
		Node node = (cause instanceof CoordinatorException told) ? told.getCoordinator()
				: (cause instanceof NodeUnavailableException away) ? away.getNode() : null;
		return (node != null) ? address(node) : CASSANDRA;
	}

	/** The address of a node, as operators know it. */
	static String address(Node node) {
		SocketAddress address = node.getEndPoint().resolve();
		return Stream.of(address.toString().split("/", -1)).reduce((_, last) -> last).orElseThrow();
	}

	/** Whether the statement was certainly not done. */
	private static boolean isNotDone(Throwable cause, Effect effect) {
		return isNotBegun(cause) || (cause instanceof UnavailableException unavailable
				&& (effect != Effect.TRANSACTION || isBeforeProposal(unavailable.getConsistencyLevel())));
	}

	/**
	 * Whether the replicas of a transaction were counted before it was proposed. The
	 * first version of Cassandra's Paxos counts them again before it commits what a
	 * majority has already accepted, and then names the level of the commit.
	 */
	static boolean isBeforeProposal(ConsistencyLevel counted) {
		return counted.isSerial();
	}

	/** Whether the statement was not sent, or refused as it is. */
	private static boolean isNotBegun(Throwable cause) {
		return cause instanceof NodeUnavailableException || cause instanceof BusyConnectionException
				|| cause instanceof ConnectionInitException || cause instanceof RequestThrottlingException
				|| cause instanceof BootstrappingException || cause instanceof QueryValidationException
				|| cause instanceof AllNodesFailedException;
	}

	/** A reason in the words of the API. */
	private static String reason(Throwable cause, Effect effect) {
		return switch (cause) {
			case DriverTimeoutException _, ReadTimeoutException _, WriteTimeoutException _ -> "timeout";
			case UnavailableException _ -> "unavailable";
			case OverloadedException _, BusyConnectionException _, RequestThrottlingException _ -> "overloaded";
			case BootstrappingException _ -> "unavailable";
			case QueryValidationException _ -> "refused";
			case ClosedConnectionException _, HeartbeatException _ -> "disconnected";
			case NodeUnavailableException _, ConnectionInitException _, AllNodesFailedException _ -> "away";
			// A transaction reads too: what fails in it may be called a read.
			case QueryConsistencyException _ -> (effect != Effect.READ) ? "write-failed" : "unreadable";
			case DriverException _ -> "internal-error";
			default -> "disconnected";
		};
	}

	/** What a statement does when it is executed. */
	enum Effect {

		/** It changes nothing. */
		READ,

		/** It writes without a comparison: each replica writes as soon as it is asked. */
		WRITE,

		/** It compares and writes by Paxos: first it is proposed, then committed. */
		TRANSACTION

	}

}
