package io.kvorum.api;

import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import reactor.core.publisher.Mono;

/**
 * CORS preflights. WebFlux finds a handler for a preflight but never calls it. A
 * preflight would get an empty 200 even if any other request to that path is refused. So
 * preflights are answered during handler mapping.
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
