package io.kvorum.client;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a node says of a request that failed (RFC 9457).
 *
 * @param name the kind, {@code "not-enough-replicas"} for instance: the last part of the
 * type, as in the documentation of the API; {@code "none"} if the answer was no problem
 * of Kvorum
 * @param status of HTTP
 * @param detail in words what to do
 * @param outcome whether the request did something
 * @param isRetryable whether it makes sense to send the same request again
 * @param current the value that a condition met; null where there was none, or no
 * condition
 * @param required the replicas that had to answer; 0 where that was not the problem
 * @param acknowledged the replicas that did
 * @param replicas those that did not, and why
 */
public record Problem(String name, int status, String detail, Outcome outcome, boolean isRetryable,
		@Nullable Version current, int required, int acknowledged, List<Replica> replicas) {

	/** The keys of the node have moved to others. */
	static final String RETIRED = "retired";

	/** A problem. */
	public Problem {
		replicas = List.copyOf(replicas);
	}

	/** This, if the operation may have happened by an earlier request. */
	Problem unknown() {
		return new Problem(this.name, this.status, this.detail, Outcome.UNKNOWN, this.isRetryable, this.current,
				this.required, this.acknowledged, this.replicas);
	}

	/**
	 * A replica that did not do what was asked.
	 *
	 * @param node its address
	 * @param outcome {@code "away"} or {@code "timeout"} for instance
	 */
	public record Replica(String node, String outcome) {
	}

}
