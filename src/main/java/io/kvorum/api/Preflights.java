package io.kvorum.api;

import reactor.core.publisher.Mono;

import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;

/**
 * CORS preflights. WebFlux finds a handler for them but never calls it, which would turn
 * the refusal of any other request into an empty 200. So they are answered during handler
 * mapping.
 */
final class Preflights {

	private Preflights() {
	}

	/** Returns the handler that a mapping has found; a preflight is answered first. */
	static Mono<Object> found(WebHandler handler, ServerWebExchange exchange) {
		return CorsUtils.isPreFlightRequest(exchange.getRequest()) ? handler.handle(exchange).thenReturn(handler)
				: Mono.just(handler);
	}

}
