package io.kvorum.api;

import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Leads to the {@link EntityHandler} and the {@link RangeHandler}: comparisons of the
 * path as it was sent, asked before all other mappings.
 */
final class EntityMapping implements HandlerMapping, Ordered {

	private final ApplicationContext context;

	private final Mono<Object> entities;

	private final Mono<Object> ranges;

	/**
	 * @param context whose server this is for: that of a management port of its own asks
	 * the mappings of this one too
	 */
	EntityMapping(ApplicationContext context, EntityHandler entities, RangeHandler ranges) {
		this.context = context;
		this.entities = Mono.just(entities);
		this.ranges = Mono.just(ranges);
	}

	@Override
	public Mono<Object> getHandler(ServerWebExchange exchange) {
		if (!this.context.equals(exchange.getApplicationContext())) {
			return Mono.empty();
		}
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
