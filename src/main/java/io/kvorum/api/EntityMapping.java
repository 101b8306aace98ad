package io.kvorum.api;

import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Leads to the {@link EntityHandler} and the {@link RangeHandler}, by the path as the
 * client sent it, before all other mappings.
 */
final class EntityMapping implements HandlerMapping, Ordered {

	private final ApplicationContext context;

	private final EntityHandler entities;

	private final RangeHandler ranges;

	/**
	 * @param context the context of the server that this is for; the server of a separate
	 * management port asks this mapping too
	 */
	EntityMapping(ApplicationContext context, EntityHandler entities, RangeHandler ranges) {
		this.context = context;
		this.entities = entities;
		this.ranges = ranges;
	}

	@Override
	public Mono<Object> getHandler(ServerWebExchange exchange) {
		if (!this.context.equals(exchange.getApplicationContext())) {
			return Mono.empty();
		}
		String path = exchange.getRequest().getURI().getRawPath();
		if (EntityHandler.PATH.equals(path)) {
			return Preflights.found(this.entities, exchange);
		}
		return RangeHandler.PATH.equals(path) ? Preflights.found(this.ranges, exchange) : Mono.empty();
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

}
