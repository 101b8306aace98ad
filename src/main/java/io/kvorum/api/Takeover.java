package io.kvorum.api;

import io.kvorum.kv.Entry.Live;
import io.kvorum.operation.Newest;
import io.kvorum.wire.HttpExchange;
import io.netty.util.AsciiString;

/**
 * The requests that a retired node answers: reads of the gateways that take its keys
 * over. They learn from each answer that the node is retired, the version of what is
 * newest, also of a delete, and the exact instant at which a value expires.
 */
final class Takeover {

	/**
	 * In a request: sent by a gateway, or by the command that has gateways take keys
	 * over. In an answer: the role of the server.
	 */
	private static final AsciiString TAKEOVER = AsciiString.cached("Kvorum-Takeover");

	/** When a value expires, in milliseconds since 1970. */
	private static final AsciiString EXPIRES_AT = AsciiString.cached("Kvorum-Expires-At");

	/**
	 * The version of the newest entry or tombstone, as 32 hexadecimal digits. It may
	 * differ from the ETag.
	 */
	private static final AsciiString VERSION = AsciiString.cached("Kvorum-Version");

	private static final AsciiString RETIRED = AsciiString.cached("retired");

	private static final AsciiString GATEWAY = AsciiString.cached("gateway");

	private Takeover() {
	}

	/**
	 * Whether a retired node answers a request. Either answer is marked: that to a HEAD
	 * has no body that would say why it is refused.
	 */
	static boolean admits(HttpExchange exchange) {
		exchange.set(TAKEOVER, RETIRED);
		String method = exchange.method();
		return (method.equals("GET") || method.equals("HEAD")) && exchange.header(TAKEOVER) != null;
	}

	/**
	 * Marks the answer as that of a gateway that takes keys over, if the request asks.
	 */
	static void mark(HttpExchange exchange) {
		if (exchange.header(TAKEOVER) != null) {
			exchange.set(TAKEOVER, GATEWAY);
		}
	}

	/** Sets the version of the newest entry and its expiry. */
	static void describe(Newest newest, HttpExchange exchange) {
		exchange.set(VERSION, newest.version().toHex());
		Live live = newest.live();
		if (live != null && live.expires()) {
			exchange.set(EXPIRES_AT, Long.toString(live.expiresAtMillis()));
		}
	}

}
