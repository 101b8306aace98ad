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
	 * In a request: it is one of a gateway, or of the command that has gateways take keys
	 * over. In an answer: who has answered.
	 */
	private static final AsciiString TAKEOVER = AsciiString.cached("Kvorum-Takeover");

	/** When a value expires, in milliseconds since 1970. */
	private static final AsciiString EXPIRES_AT = AsciiString.cached("Kvorum-Expires-At");

	/** The version of what is newest, which the ETag is not always; as 32 digits. */
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

	/** Says that the one who answers takes keys over, if that is asked. */
	static void mark(HttpExchange exchange) {
		if (exchange.header(TAKEOVER) != null) {
			exchange.set(TAKEOVER, GATEWAY);
		}
	}

	/** Says of which version what is newest is, and when it expires. */
	static void describe(Newest newest, HttpExchange exchange) {
		exchange.set(VERSION, newest.version().toHex());
		Live live = newest.live();
		if (live != null && live.expires()) {
			exchange.set(EXPIRES_AT, Long.toString(live.expiresAtMillis()));
		}
	}

}
