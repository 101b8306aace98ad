package io.kvorum.api;

import io.kvorum.wire.HttpExchange;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Answers requests for unknown paths with 400, since 404 means in this protocol that
 * there is no such entity. The management endpoints keep their own 404, on a separate
 * port too.
 */
final class UnknownPathMapping implements HandlerMapping, Ordered {

	private final ApplicationContext context;

	private final String managementPath;

	private final ProblemWriter problems;

	/**
	 * @param context the context of the server that this is for, see
	 * {@link EntityMapping}
	 * @param managementPath the path of the management endpoints, such as
	 * {@code /actuator}; empty if that is the root, where no path is only theirs
	 */
	UnknownPathMapping(ApplicationContext context, String managementPath, ProblemWriter problems) {
		this.context = context;
		this.managementPath = managementPath;
		this.problems = problems;
	}

	@Override
	public Mono<Object> getHandler(ServerWebExchange exchange) {
		return this.context.equals(exchange.getApplicationContext()) ? Preflights.found(this::answer, exchange)
				: Mono.empty();
	}

	private Mono<Void> answer(ServerWebExchange webExchange) {
		HttpExchange exchange = new SpringExchange(webExchange);
		String path = String.valueOf(webExchange.getRequest().getURI().getRawPath());
		if (!this.managementPath.isEmpty()
				&& (path.equals(this.managementPath) || path.startsWith(this.managementPath + "/"))) {
			return this.problems.write(exchange, Problem.NO_ENDPOINT);
		}
		return this.problems.write(exchange, new Problem(ProblemType.UNKNOWN_PATH,
				"There is nothing at this path. Entities are at %s?id=<key>, ranges at %s?start=<key>, the status is at %s. All of it is described at %s."
					.formatted(EntityHandler.PATH, RangeHandler.PATH, StatusController.PATH,
							DescriptionController.PATH)));
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

}
