package io.kvorum.api;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.kvorum.access.DeniedException;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import org.jspecify.annotations.Nullable;

/**
 * An answer that says what failed and what to do, as in RFC 9457. None of its fields
 * holds keys or values of the users.
 *
 * @param type the kind of problem
 * @param retryAfterSeconds the time after which to try again; null if it is not known
 * @param more fields beside the standard ones
 */
record Problem(ProblemType type, String detail, @Nullable Integer retryAfterSeconds, Map<String, Object> more) {

	static final String MEDIA_TYPE = "application/problem+json";

	private static final int RETRY_AFTER_SECONDS = 1;

	private static final long NANOS_OF_A_SECOND = TimeUnit.SECONDS.toNanos(1);

	private static final Map<String, Object> NEVER_APPLIED = Map.of("outcome", "not-applied", "retryable", false);

	private static final Map<String, Object> NOT_APPLIED = Map.of("outcome", "not-applied", "retryable", true);

	static final Problem NOT_FOUND = new Problem(ProblemType.NO_SUCH_ENTITY,
			"No value is stored under this id, or it was deleted or has expired.");

	/** The same answer to all clients that are not known, whatever they have tried. */
	static final Problem UNAUTHORIZED = new Problem(ProblemType.UNAUTHORIZED,
			"Send 'Authorization: Bearer <id>.<secret>', once, with an API key that is good here.");

	private static final Problem NO_RIGHT_TO_ENTITY = new Problem(ProblemType.FORBIDDEN,
			"The API key may not do this with this id. Nothing was done. A condition needs the right 'read' too.");

	private static final Problem NO_RIGHT_TO_RANGE = new Problem(ProblemType.FORBIDDEN,
			"A range must lie inside one prefix for which the API key has the right 'range'. 'start' must not come "
					+ "before the prefix; 'end' is required and must not come after the first id that follows it. "
					+ "Only a key with this right for all ids may leave 'end' out.");

	private static final Problem NO_RIGHT_TO_ENDPOINT = new Problem(ProblemType.FORBIDDEN,
			"The API key may not use this management endpoint in this way.");

	static final Problem CODED_VALUE = new Problem(ProblemType.CONTENT_ENCODING_NOT_SUPPORTED,
			"A value is kept with its Content-Type and without its Content-Encoding, so it would come back unreadable. "
					+ "Send it without Content-Encoding: decoded, or with a Content-Type that says what it is, such as application/gzip.",
			null, NEVER_APPLIED);

	static final Problem CONDITION_BY_DATE = new Problem(ProblemType.HEADER_NOT_SUPPORTED,
			"The header If-Unmodified-Since is not supported: dates have whole seconds, so it cannot tell two writes of one second apart. "
					+ "Send If-Match with the ETag of the value that you have read. Nothing was done.",
			null, NEVER_APPLIED);

	static final Problem NO_ENDPOINT = new Problem(ProblemType.NO_SUCH_ENDPOINT,
			"There is no such management endpoint, or it is not exposed.");

	static final Problem NO_FORMAT = new Problem(ProblemType.NOT_ACCEPTABLE,
			"A range comes as application/octet-stream or as application/x-ndjson; ask for one of them by Accept.");

	static final Problem NO_CHUNKS = new Problem(ProblemType.HTTP_VERSION_NOT_SUPPORTED,
			"A range comes in chunks, which HTTP/1.0 does not have: use HTTP/1.1.");

	static final Problem RETIRED = new Problem(ProblemType.RETIRED,
			"The keys of this node have moved to gateways. Nothing was done. Send the request to a gateway.",
			RETRY_AFTER_SECONDS, NOT_APPLIED);

	/** The problems that need no data of the request. */
	static final List<Problem> CONSTANT = List.of(NOT_FOUND, UNAUTHORIZED, NO_RIGHT_TO_ENTITY, NO_RIGHT_TO_RANGE,
			NO_RIGHT_TO_ENDPOINT, CODED_VALUE, CONDITION_BY_DATE, NO_ENDPOINT, NO_FORMAT, NO_CHUNKS, RETIRED);

	Problem(ProblemType type, String detail) {
		this(type, detail, null, Map.of());
	}

	static Problem methodNotAllowed(String detail) {
		return new Problem(ProblemType.METHOD_NOT_ALLOWED, detail);
	}

	/**
	 * A condition does not hold; nothing was done.
	 * @param current the ETag of the value; null if there is none
	 */
	static Problem preconditionFailed(@Nullable String current) {
		Map<String, Object> more = new LinkedHashMap<>(NEVER_APPLIED);
		// An empty one is null in JSON.
		more.put("current", Optional.ofNullable(current));
		return new Problem(ProblemType.PRECONDITION_FAILED, (current != null)
				? "The condition does not hold: the value has the ETag %s. Nothing was done. Read the value and decide anew."
					.formatted(current)
				: "The condition does not hold: no value is stored under this id. Nothing was done.", null, more);
	}

	/**
	 * A condition came with a level at which it cannot be kept; nothing was done.
	 * @param defaults the least that it needs
	 */
	static Problem conditionNeedsMajority(Replicas defaults) {
		return new Problem(ProblemType.CONDITION_NEEDS_MAJORITY,
				"A write with a condition needs a majority of the default replicas. Leave 'Kvorum-Consistency', 'replicas', 'ack' and 'from' out, or ask for at least %d/%d. Nothing was done."
					.formatted(defaults.ack(), defaults.from()));
	}

	static Problem nameNeedsMajority(Replicas defaults) {
		return new Problem(ProblemType.CONDITION_NEEDS_MAJORITY,
				"A gateway writes with an Idempotency-Key by a transaction, which has no order with eventual writes. Leave 'Kvorum-Consistency', 'replicas', 'ack' and 'from' out, or ask for at least %d/%d; or leave the Idempotency-Key out. Nothing was done."
					.formatted(defaults.ack(), defaults.from()));
	}

	static Problem valueTooLarge(long maxBytes) {
		return new Problem(ProblemType.VALUE_TOO_LARGE,
				"A value has at most %d bytes (kvorum.api.max-value-size). Nothing was stored.".formatted(maxBytes));
	}

	/** Nothing of the body arrived for the limit, or it took that long. */
	static Problem requestTimeout(boolean isStalled, Duration limit) {
		String detail = isStalled ? "Nothing of the body arrived for %d ms (kvorum.api.body-stall-timeout)."
				: "The body did not arrive within %d ms (kvorum.api.body-timeout).";
		return new Problem(ProblemType.REQUEST_TIMEOUT,
				detail.formatted(limit.toMillis()) + " Nothing was stored: send it again.", null, NOT_APPLIED);
	}

	/** The body did not arrive as declared; nothing was stored. */
	static Problem incompleteBody(String detail) {
		return new Problem(ProblemType.INCOMPLETE_BODY, detail, null, NOT_APPLIED);
	}

	/** A header asks for what is not implemented; nothing was done. */
	static Problem unsupportedHeader(CharSequence name) {
		return new Problem(ProblemType.HEADER_NOT_SUPPORTED,
				"The header '%s' is not supported for this method. Nothing was done, because ignoring it could do what it forbids. If you do not need it, send the request without it."
					.formatted(name),
				null, NEVER_APPLIED);
	}

	/** A limit of this node is reached; nothing was done. */
	static Problem notAccepted(String detail) {
		return new Problem(ProblemType.NOT_ACCEPTED, detail, RETRY_AFTER_SECONDS, NOT_APPLIED);
	}

	static Problem internal() {
		return new Problem(ProblemType.INTERNAL_ERROR,
				"This node met an error it did not expect; its log has the details. A write may have happened.");
	}

	static Problem of(DeniedException ex) {
		return switch (ex.denial()) {
			case MISSING, MALFORMED, WRONG, EXPIRED -> UNAUTHORIZED;
			case ENTITY -> NO_RIGHT_TO_ENTITY;
			case RANGE -> NO_RIGHT_TO_RANGE;
			case ENDPOINT -> NO_RIGHT_TO_ENDPOINT;
			case RATE -> tooFast(Math.ceilDiv(ex.waitNanos(), NANOS_OF_A_SECOND));
		};
	}

	private static Problem tooFast(long seconds) {
		return new Problem(ProblemType.TOO_MANY_REQUESTS,
				"The API key has used up its rate on this node. Nothing was done.", (int) seconds, NOT_APPLIED);
	}

	static Problem of(OperationFailedException ex) {
		return switch (ex.kind()) {
			case NOT_ACCEPTED -> ofOperation(ProblemType.NOT_ACCEPTED,
					"The operation did not begin: %s. Try again later.".formatted(ex.getMessage()), ex);
			case CONTENTION -> ofOperation(ProblemType.CONTENTION,
					"Other conditional writes of this id came in between until the deadline. Nothing was done. Try again.",
					ex);
			case UNDER_WAY -> ofOperation(ProblemType.REQUEST_UNDER_WAY,
					"A request with this Idempotency-Key is under way. Send it again later, with the same key, to learn its outcome.",
					ex);
			case KEY_REUSED -> ofOperation(ProblemType.IDEMPOTENCY_KEY_REUSED,
					"This Idempotency-Key was sent with another request: another method, id, body or header. Nothing was done. Send a new key with a new request.",
					ex);
			case NO_SPACE -> ofOperation(ProblemType.NO_SPACE,
					"The disk has no space for the write: %s. Free some; writes then resume by themselves."
						.formatted(ex.getMessage()),
					ex);
			case NOT_SUPPORTED -> new Problem(ProblemType.RANGES_NOT_SUPPORTED,
					"This store has no ranges: %s. Keep a list of keys in an entity of its own."
						.formatted(ex.getMessage()));
			case NOT_ENOUGH_REPLICAS -> ofOperation(ProblemType.NOT_ENOUGH_REPLICAS, notEnough(ex), ex);
		};
	}

	private static String notEnough(OperationFailedException ex) {
		if (ex.mayHaveHappened() && ex.replicas().isEmpty()) {
			return "%s, so it is unknown whether this write happened. Read the value and decide."
				.formatted(ex.mayRetry() ? "Other writes of this id came in between"
						: "The value expired before enough replicas had it");
		}
		return "%d of the %d replicas needed have answered.%s"
			.formatted(ex.acknowledged(), ex.required(), ex.mayHaveHappened()
					? " The write may have happened. A repeat may undo what others wrote since, unless it has an Idempotency-Key or a condition."
					: "");
	}

	private static Problem ofOperation(ProblemType type, String detail, OperationFailedException ex) {
		Map<String, Object> more = new LinkedHashMap<>();
		more.put("required", ex.required());
		more.put("acknowledged", ex.acknowledged());
		more.put("replicas", outcomes(ex.replicas()));
		more.put("outcome", ex.mayHaveHappened() ? "unknown" : "not-applied");
		more.put("retryable", ex.mayRetry());
		return new Problem(type, detail, ex.mayRetry() ? RETRY_AFTER_SECONDS : null, more);
	}

	private static List<Map<String, Object>> outcomes(List<ReplicaFailure> replicas) {
		return replicas.stream().map(replica -> {
			Map<String, Object> outcome = new LinkedHashMap<>();
			outcome.put("node", replica.node());
			outcome.put("outcome", replica.reason());
			return outcome;
		}).toList();
	}

	int status() {
		return this.type.status();
	}

	/** Returns the object to be written as JSON. */
	Map<String, Object> toJson() {
		Map<String, Object> json = new LinkedHashMap<>();
		json.put("type", this.type.uri());
		json.put("title", this.type.title());
		json.put("status", this.type.status());
		json.put("detail", this.detail);
		json.putAll(this.more);
		return json;
	}

}
