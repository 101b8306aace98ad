package io.kvorum.wire;

import io.netty.handler.codec.http.HttpRequest;
import reactor.core.publisher.Mono;

/**
 * Requests that are answered straight from their connection, before reactor-netty makes
 * anything of them.
 */
public interface WireRoute {

	/** Whether this route answers a request, of which the guard had nothing to say. */
	boolean takes(HttpRequest request);

	/**
	 * Answers a request, on the event loop of its connection: completes when the answer
	 * has been sent. Cancelled when the client goes away before. The body is asked for
	 * before this returns, or not at all.
	 */
	Mono<Void> handle(HttpExchange exchange);

}
