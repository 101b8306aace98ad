package io.kvorum.wire;

import io.netty.handler.codec.http.HttpRequest;
import reactor.core.publisher.Mono;

/** Answers requests straight from their connection, without reactor-netty. */
public interface WireRoute {

	/** Takes nothing: all requests are reactor-netty's. */
	WireRoute NONE = new WireRoute() {

		@Override
		public boolean takes(HttpRequest request) {
			return false;
		}

		@Override
		public Mono<Void> handle(HttpExchange exchange) {
			return Mono.error(new IllegalStateException("takes no request"));
		}

	};

	/** Whether this route answers a request; the guard has let it through. */
	boolean takes(HttpRequest request);

	/**
	 * Answers a request, on the event loop of its connection. The body must be asked for
	 * before this returns.
	 * @return completes when the answer has been sent; cancelled if the client goes away
	 * before
	 */
	Mono<Void> handle(HttpExchange exchange);

}
