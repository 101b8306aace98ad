package io.kvorum.wire;

import io.netty.handler.codec.http.HttpRequest;
import reactor.core.publisher.Mono;

/**
 * Requests that are answered straight from their connection, before reactor-netty makes
 * anything of them.
 */
public interface WireRoute {

	/** Takes nothing: all requests are reactor-netty's. */
	WireRoute NONE = new WireRoute() {

		@Override
		public boolean takes(HttpRequest request) {
			return false;
		}

		@Override
		public Mono<Void> handle(WireExchange exchange) {
			return Mono.error(new IllegalStateException("takes no request"));
		}

	};

	/** Whether this route answers a request, of which the guard had nothing to say. */
	boolean takes(HttpRequest request);

	/**
	 * Answers a request, on the event loop of its connection: completes when the answer
	 * has been sent. Cancelled when the client goes away before. The body is asked for
	 * before this returns, or not at all.
	 */
	Mono<Void> handle(HttpExchange exchange);

}
