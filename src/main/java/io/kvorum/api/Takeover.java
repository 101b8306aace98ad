package io.kvorum.api;

import io.kvorum.kv.Entry.Live;
import io.kvorum.wire.HttpExchange;
import io.netty.util.AsciiString;

/**
 * The requests that a retired node answers: reads of the gateways that take its keys
 * over. They learn from each answer that the node is retired, and the exact instant at
 * which a value expires.
 */
final class Takeover {

	/** In a request: it is one of a gateway. In an answer: the node is retired. */
	private static final AsciiString TAKEOVER = AsciiString.cached("Kvorum-Takeover");

	/** When a value expires, in milliseconds since 1970. */
	private static final AsciiString EXPIRES_AT = AsciiString.cached("Kvorum-Expires-At");

	private static final AsciiString TRUE = AsciiString.cached("true");

	private Takeover() {
	}

	/** Whether a request is answered. The answer is marked then. */
	static boolean admits(HttpExchange exchange) {
		String method = exchange.method();
		if ((!method.equals("GET") && !method.equals("HEAD")) || exchange.header(TAKEOVER) == null) {
			return false;
		}
		exchange.set(TAKEOVER, TRUE);
		return true;
	}

	/** Says when a value expires. */
	static void describe(Live live, HttpExchange exchange) {
		if (live.expires()) {
			exchange.set(EXPIRES_AT, Long.toString(live.expiresAtMillis()));
		}
	}

}
