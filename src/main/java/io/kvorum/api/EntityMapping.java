package io.kvorum.api;

import reactor.core.publisher.Mono;

import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;

/**
 * Leads to the {@link EntityHandler} and the {@link RangeHandler}: comparisons of the
 * path as it was sent, asked before all other mappings.
 */
final class EntityMapping implements HandlerMapping, Ordered {

	private final ApplicationContext context;

	private final EntityHandler entities;

	private final RangeHandler ranges;

	/**
	 * @param context whose server this is for: that of a management port of its own asks
	 * the mappings of this one too
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
