package io.kvorum.api;

import org.springframework.core.Ordered;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Leads to the {@link EntityHandler}: one comparison of the path as it was sent, asked
 * before all other mappings.
 */
final class EntityMapping implements HandlerMapping, Ordered {

	private final Mono<Object> handler;

	EntityMapping(EntityHandler handler) {
		this.handler = Mono.just(handler);
	}

	@Override
	public Mono<Object> getHandler(ServerWebExchange exchange) {
		return EntityHandler.PATH.equals(exchange.getRequest().getURI().getRawPath()) ? this.handler : Mono.empty();
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

}
