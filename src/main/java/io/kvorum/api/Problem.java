package io.kvorum.api;

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
 * @param status the HTTP status
 * @param type the kind of problem, the last part of its URI
 * @param retryAfterSeconds the time after which to try again; null if it is not known
 * @param more fields beside the standard ones
 */
record Problem(int status, String type, String title, String detail, @Nullable Integer retryAfterSeconds,
		Map<String, Object> more) {

	static final String MEDIA_TYPE = "application/problem+json";

	private static final String TYPE_PREFIX = "urn:kvorum:problem:";

	private static final int RETRY_AFTER_SECONDS = 1;

	private static final long NANOS_OF_A_SECOND = TimeUnit.SECONDS.toNanos(1);

	private static final Map<String, Object> NEVER_APPLIED = Map.of("outcome", "not-applied", "retryable", false);

	private static final Map<String, Object> NOT_APPLIED = Map.of("outcome", "not-applied", "retryable", true);

	static final Problem NOT_FOUND = new Problem(404, "no-such-entity", "No such entity",
			"No value is stored under this id, or it was deleted or has expired.");

	/** The same answer to all clients that are not known, whatever they have tried. */
	static final Problem UNAUTHORIZED = new Problem(401, "unauthorized", "Unauthorized",
			"Send 'Authorization: Bearer <id>.<secret>', once, with an API key that is good here.");

	private static final Problem NO_RIGHT_TO_ENTITY = new Problem(403, "forbidden", "Forbidden",
			"The API key may not do this with this id. Nothing was done. A condition needs the right 'read' too.");

	private static final Problem NO_RIGHT_TO_RANGE = new Problem(403, "forbidden", "Forbidden",
			"A range has to lie inside one prefix for which the API key has the right 'range': 'start' must begin there or "
					+ "behind its beginning, and 'end' is needed and must not lie behind the last id that begins with it. "
					+ "Only a key with this right for all ids may leave 'end' out.");

	private static final Problem NO_RIGHT_TO_ENDPOINT = new Problem(403, "forbidden", "Forbidden",
			"The API key may not use this management endpoint in this way.");

	static final Problem CODED_VALUE = new Problem(415, "content-encoding-not-supported", "Unsupported media type",
			"A value is kept with its Content-Type and without its Content-Encoding, so it would come back unreadable. "
					+ "Send it without Content-Encoding: decoded, or with a Content-Type that says what it is, such as application/gzip.",
			null, NEVER_APPLIED);

	static final Problem CONDITION_BY_DATE = new Problem(501, "header-not-supported", "Not implemented",
			"The header If-Unmodified-Since is not supported: dates have whole seconds, so it cannot tell two writes of one second apart. "
					+ "Send If-Match with the ETag of the value that you have read. Nothing was done.",
			null, NEVER_APPLIED);

	static final Problem NO_ENDPOINT = new Problem(404, "no-such-endpoint", "No such endpoint",
			"There is no such management endpoint, or it is not exposed.");

	static final Problem NO_FORMAT = new Problem(406, "not-acceptable", "Not acceptable",
			"A range comes as application/octet-stream or as application/x-ndjson; ask for one of them by Accept.");

	static final Problem NO_CHUNKS = new Problem(505, "http-version-not-supported", "HTTP version not supported",
			"A range comes in chunks, which HTTP/1.0 does not have: use HTTP/1.1.");

	/** The problems that need no data of the request. */
	static final List<Problem> CONSTANT = List.of(NOT_FOUND, UNAUTHORIZED, NO_RIGHT_TO_ENTITY, NO_RIGHT_TO_RANGE,
			NO_RIGHT_TO_ENDPOINT, CODED_VALUE, CONDITION_BY_DATE, NO_ENDPOINT, NO_FORMAT, NO_CHUNKS);

	Problem(int status, String type, String title, String detail) {
		this(status, type, title, detail, null, Map.of());
	}

	static Problem badRequest(String type, String detail) {
		return new Problem(400, type, "Bad request", detail);
	}

	static Problem methodNotAllowed(String detail) {
		return new Problem(405, "method-not-allowed", "Method not allowed", detail);
	}

	/**
	 * A condition does not hold; nothing was done.
	 * @param current the ETag of the value; null if there is none
	 */
	static Problem preconditionFailed(@Nullable String current) {
		Map<String, Object> more = new LinkedHashMap<>(NEVER_APPLIED);
		// An empty one is null in JSON.
		more.put("current", Optional.ofNullable(current));
		return new Problem(412, "precondition-failed", "Precondition failed", (current != null)
				? "The condition does not hold: the value has the ETag %s. Nothing was done. Read the value and decide anew."
					.formatted(current)
				: "The condition does not hold: no value is stored under this id. Nothing was done.", null, more);
	}

	/**
	 * A condition came with a level at which it cannot be kept; nothing was done.
	 * @param defaults the least that it needs
	 */
	static Problem conditionNeedsMajority(Replicas defaults) {
		return badRequest("condition-needs-majority",
				"A write with a condition needs a majority of the default replicas. Leave 'replicas', 'ack' and 'from' out, or ask for at least %d/%d. Nothing was done."
					.formatted(defaults.ack(), defaults.from()));
	}

	static Problem valueTooLarge(long maxBytes) {
		return new Problem(413, "value-too-large", "Value too large",
				"A value has at most %d bytes (kvorum.api.max-value-size). Nothing was stored.".formatted(maxBytes));
	}

	static Problem requestTimeout(String detail) {
		return new Problem(408, "request-timeout", "Request timeout", detail, null, NOT_APPLIED);
	}

	/** The body did not arrive as declared; nothing was stored. */
	static Problem incompleteBody(String detail) {
		return new Problem(400, "incomplete-body", "Incomplete body", detail, null, NOT_APPLIED);
	}

	/** A header asks for what is not implemented; nothing was done. */
	static Problem unsupportedHeader(CharSequence name) {
		return new Problem(501, "header-not-supported", "Not implemented",
				"The header '%s' is not supported on this method. Nothing was done, since to ignore it could do what it forbids. Send the request without it if it holds without."
					.formatted(name),
				null, NEVER_APPLIED);
	}

	/** A limit of this node is reached; nothing was done. */
	static Problem notAccepted(String detail) {
		return new Problem(503, "not-accepted", "Not accepted", detail, RETRY_AFTER_SECONDS, NOT_APPLIED);
	}

	static Problem internal() {
		return new Problem(500, "internal-error", "Internal error",
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
		return new Problem(429, "too-many-requests", "Too many requests",
				"The API key has used up its rate on this node. Nothing was done.", (int) seconds, NOT_APPLIED);
	}

	static Problem of(OperationFailedException ex) {
		return switch (ex.kind()) {
			case NOT_ACCEPTED -> ofOperation(503, "not-accepted", "Not accepted",
					"The operation did not begin: %s. Try again later.".formatted(ex.getMessage()), ex);
			case CONTENTION -> ofOperation(503, "contention", "Contention",
					"Other conditional writes of this id came in between until the deadline. Nothing was done. Try again.",
					ex);
			case UNDER_WAY -> ofOperation(409, "request-under-way", "Request under way",
					"A request with this Idempotency-Key is under way. Send it again later, with the same key, to learn its outcome.",
					ex);
			case KEY_REUSED -> ofOperation(422, "idempotency-key-reused", "Idempotency key reused",
					"This Idempotency-Key was sent with another request: another method, id, body or header. Nothing was done. Send a new key with a new request.",
					ex);
			case NO_SPACE -> ofOperation(507, "no-space", "No space",
					"The write needs space: %s. Free some; writes go on by themselves.".formatted(ex.getMessage()), ex);
			case NOT_ENOUGH_REPLICAS -> (ex.mayHaveHappened() && ex.replicas().isEmpty()) ? ofOperation(504,
					"not-enough-replicas", "Not enough replicas",
					"Other writes of this id came in between, and it can no longer be told whether this one happened. Writing it again is safe.",
					ex)
					: ofOperation(504, "not-enough-replicas", "Not enough replicas",
							"%d of the %d replicas needed have answered.%s".formatted(ex.acknowledged(), ex.required(),
									ex.mayHaveHappened() ? " The write may have happened; writing it again is safe."
											: ""),
							ex);
		};
	}

	private static Problem ofOperation(int status, String type, String title, String detail,
			OperationFailedException ex) {
		Map<String, Object> more = new LinkedHashMap<>();
		more.put("required", ex.required());
		more.put("acknowledged", ex.acknowledged());
		more.put("replicas", outcomes(ex.replicas()));
		more.put("outcome", ex.mayHaveHappened() ? "unknown" : "not-applied");
		more.put("retryable", ex.mayRetry());
		return new Problem(status, type, title, detail, ex.mayRetry() ? RETRY_AFTER_SECONDS : null, more);
	}

	private static List<Map<String, Object>> outcomes(List<ReplicaFailure> replicas) {
		return replicas.stream().map(replica -> {
			Map<String, Object> outcome = new LinkedHashMap<>();
			outcome.put("node", replica.node());
			outcome.put("outcome", replica.reason());
			return outcome;
		}).toList();
	}

	/** Returns the object to be written as JSON. */
	Map<String, Object> toJson() {
		Map<String, Object> json = new LinkedHashMap<>();
		json.put("type", TYPE_PREFIX + this.type);
		json.put("title", this.title);
		json.put("status", this.status);
		json.put("detail", this.detail);
		json.putAll(this.more);
		return json;
	}

}
