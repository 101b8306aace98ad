package io.kvorum.observability;

import io.opentelemetry.api.common.AttributeKey;

/**
 * Attributes of spans: those of HTTP by the semantic conventions, and Kvorum's own.
 * {@code url.query} is left out because it holds the key.
 */
final class SpanAttributes {

	static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");

	static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");

	static final AttributeKey<Long> STATUS = AttributeKey.longKey("http.response.status_code");

	static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");

	static final AttributeKey<String> SCHEME = AttributeKey.stringKey("url.scheme");

	static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

	/** Address of the coordinator. */
	static final AttributeKey<String> NODE = AttributeKey.stringKey("kvorum.node");

	static final AttributeKey<Long> ACK = AttributeKey.longKey("kvorum.ack");

	static final AttributeKey<Long> FROM = AttributeKey.longKey("kvorum.from");

	static final AttributeKey<String> CONSISTENCY = AttributeKey.stringKey("kvorum.consistency");

	static final AttributeKey<String> SCOPE = AttributeKey.stringKey("kvorum.scope");

	/** Outcome of an operation, a range, or a call of a replica. */
	static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("kvorum.outcome");

	/** Number of ballots of an operation; set only if it has any. */
	static final AttributeKey<Long> ATTEMPTS = AttributeKey.longKey("kvorum.attempts");

	/** Address of the replica that is called. */
	static final AttributeKey<String> REPLICA = AttributeKey.stringKey("kvorum.replica");

	static final AttributeKey<String> STEP = AttributeKey.stringKey("kvorum.step");

	/** Whether the call is a hedge; set only if true. */
	static final AttributeKey<Boolean> HEDGE = AttributeKey.booleanKey("kvorum.hedge");

	/** Number of calls of replicas beyond the limit, which have no span. */
	static final AttributeKey<Long> CALLS_OMITTED = AttributeKey.longKey("kvorum.calls.omitted");

	private SpanAttributes() {
	}

}
