package io.kvorum.api;

import io.kvorum.wire.HttpExchange;
import io.kvorum.wire.WireRoute;
import io.netty.handler.codec.http.HttpRequest;
import reactor.core.publisher.Mono;

/**
 * The short way to the {@link EntityHandler}: from the connection, without reactor-netty
 * and WebFlux, which cost more than all the rest of a request.
 * <p>
 * {@link EntityMapping} is the long way. Requests take it if their target is spelled
 * otherwise, or if the application has filters, so that no filter is passed by.
 */
final class EntityRoute implements WireRoute {

	private static final String PREFIX = EntityHandler.PATH + "?";

	private final EntityHandler entities;

	EntityRoute(EntityHandler entities) {
		this.entities = entities;
	}

	@Override
	public boolean takes(HttpRequest request) {
		return request.uri().startsWith(PREFIX);
	}

	@Override
	public Mono<Void> handle(HttpExchange exchange) {
		return this.entities.handle(exchange);
	}

}
