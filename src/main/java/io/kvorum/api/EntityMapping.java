package io.kvorum.api;

import org.springframework.core.Ordered;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Leads to the {@link EntityHandler} and the {@link RangeHandler}: comparisons of the
 * path as it was sent, asked before all other mappings.
 */
final class EntityMapping implements HandlerMapping, Ordered {

	private final Mono<Object> entities;

	private final Mono<Object> ranges;

	EntityMapping(EntityHandler entities, RangeHandler ranges) {
		this.entities = Mono.just(entities);
		this.ranges = Mono.just(ranges);
	}

	@Override
	public Mono<Object> getHandler(ServerWebExchange exchange) {
		String path = exchange.getRequest().getURI().getRawPath();
		if (EntityHandler.PATH.equals(path)) {
			return this.entities;
		}
		return RangeHandler.PATH.equals(path) ? this.ranges : Mono.empty();
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

}
