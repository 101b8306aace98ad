package io.kvorum.api;

import java.util.Locale;

/**
 * Kinds of problems of the API. The document of the API has each of them with an example,
 * and {@code src/docs/http-api.md} says when it comes.
 */
enum ProblemType {

	MISSING_ID(400), ID_TOO_LONG(400), BAD_REPLICAS(400), BAD_TTL(400), BAD_TIMEOUT(400), CONTENT_TYPE_TOO_LONG(400),
	CONTENT_RANGE(400), BAD_CONDITION(400), CONDITION_NEEDS_MAJORITY(400), BAD_IDEMPOTENCY_KEY(400),

	MISSING_START(400), BAD_END(400), BOUND_TOO_LONG(400), BAD_LIMIT(400), BAD_SCOPE(400), BAD_SEPARATOR(400),
	BAD_VALUES(400), BAD_ACCEPT(400),

	ILL_FORMED_PARAMETER(400), REPEATED_PARAMETER(400), UNKNOWN_PATH(400), INCOMPLETE_BODY(400, "Incomplete body"),

	UNAUTHORIZED(401, "Unauthorized"), FORBIDDEN(403, "Forbidden"),

	NO_SUCH_ENTITY(404, "No such entity"), NO_SUCH_ENDPOINT(404, "No such endpoint"),

	METHOD_NOT_ALLOWED(405, "Method not allowed"), NOT_ACCEPTABLE(406, "Not acceptable"),

	REQUEST_TIMEOUT(408, "Request timeout"), REQUEST_UNDER_WAY(409, "Request under way"),

	PRECONDITION_FAILED(412, "Precondition failed"), VALUE_TOO_LARGE(413, "Value too large"),

	CONTENT_ENCODING_NOT_SUPPORTED(415, "Unsupported media type"),

	IDEMPOTENCY_KEY_REUSED(422, "Idempotency key reused"), TOO_MANY_REQUESTS(429, "Too many requests"),

	INTERNAL_ERROR(500, "Internal error"), HEADER_NOT_SUPPORTED(501, "Not implemented"),

	RANGES_NOT_SUPPORTED(501, "Not implemented"),

	NOT_ACCEPTED(503, "Not accepted"), RETIRED(503, "Retired"), CONTENTION(503, "Contention"),

	NOT_ENOUGH_REPLICAS(504, "Not enough replicas"),

	HTTP_VERSION_NOT_SUPPORTED(505, "HTTP version not supported"), NO_SPACE(507, "No space");

	private final int status;

	private final String uri;

	private final String title;

	ProblemType(int status) {
		this(status, "Bad request");
	}

	ProblemType(int status, String title) {
		this.status = status;
		this.uri = "urn:kvorum:problem:" + name().toLowerCase(Locale.ROOT).replace('_', '-');
		this.title = title;
	}

	/** The HTTP status. */
	int status() {
		return this.status;
	}

	/** The URI that names the kind. */
	String uri() {
		return this.uri;
	}

	/** What it is, in a few words. */
	String title() {
		return this.title;
	}

}
