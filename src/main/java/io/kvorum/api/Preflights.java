package io.kvorum.api;

import reactor.core.publisher.Mono;

import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;

/**
 * By which browsers ask whether a page of another origin may send a request. WebFlux
 * looks for the handler of one and does not call it, which would make an empty 200 of
 * what any other request is refused. So they are answered while they are looked at.
 */
final class Preflights {

	private Preflights() {
	}

	/** What a mapping has found, which has answered if nobody is going to call it. */
	static Mono<Object> found(WebHandler handler, ServerWebExchange exchange) {
		return CorsUtils.isPreFlightRequest(exchange.getRequest()) ? handler.handle(exchange).thenReturn(handler)
				: Mono.just(handler);
	}

}
