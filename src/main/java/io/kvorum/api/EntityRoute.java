package io.kvorum.api;

import java.util.List;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerRoutes;

import org.springframework.boot.reactor.netty.NettyRouteProvider;
import org.springframework.web.server.WebFilter;

/**
 * The short way to the {@link EntityHandler}: from the connection, without WebFlux, which
 * costs half as much as all the rest of a request. {@link EntityMapping} is the long way,
 * for targets that are spelled in other words, and for all where the application has
 * filters: none of them is ever passed by.
 */
final class EntityRoute implements NettyRouteProvider {

	private static final Logger logger = LoggerFactory.getLogger(EntityRoute.class);

	private static final String PREFIX = EntityHandler.PATH + "?";

	private final EntityHandler entities;

	private final List<WebFilter> filters;

	EntityRoute(EntityHandler entities, List<WebFilter> filters) {
		this.entities = entities;
		this.filters = filters;
	}

	@Override
	public HttpServerRoutes apply(HttpServerRoutes routes) {
		if (!this.filters.isEmpty()) {
			logger.info("Requests for entities go the long way, through the filters {}", this.filters);
			return routes;
		}
		return routes.route(EntityRoute::isForEntity, this.entities::handle);
	}

	private static boolean isForEntity(HttpServerRequest request) {
		return request.uri().startsWith(PREFIX);
	}

}
