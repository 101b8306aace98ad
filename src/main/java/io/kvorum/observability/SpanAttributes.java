package io.kvorum.observability;

import io.opentelemetry.api.common.AttributeKey;

/**
 * The attributes of spans: those of HTTP by their semantic conventions, without {@code
 * url.query}, which contains the key; and Kvorum's own.
 */
final class SpanAttributes {

	static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");

	static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");

	static final AttributeKey<Long> STATUS = AttributeKey.longKey("http.response.status_code");

	static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");

	static final AttributeKey<String> SCHEME = AttributeKey.stringKey("url.scheme");

	static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

	/** The address of the node that coordinates. */
	static final AttributeKey<String> NODE = AttributeKey.stringKey("kvorum.node");

	static final AttributeKey<Long> ACK = AttributeKey.longKey("kvorum.ack");

	static final AttributeKey<Long> FROM = AttributeKey.longKey("kvorum.from");

	static final AttributeKey<String> CONSISTENCY = AttributeKey.stringKey("kvorum.consistency");

	static final AttributeKey<String> SCOPE = AttributeKey.stringKey("kvorum.scope");

	/** The result of an operation, a range, or a call of a replica. */
	static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("kvorum.outcome");

	/** The address of the node that is asked. */
	static final AttributeKey<String> REPLICA = AttributeKey.stringKey("kvorum.replica");

	static final AttributeKey<String> STEP = AttributeKey.stringKey("kvorum.step");

	/** Set only if it is true. */
	static final AttributeKey<Boolean> HEDGE = AttributeKey.booleanKey("kvorum.hedge");

	/** Calls of replicas that have no span, since there are too many. */
	static final AttributeKey<Long> CALLS_OMITTED = AttributeKey.longKey("kvorum.calls.omitted");

	private SpanAttributes() {
	}

}
