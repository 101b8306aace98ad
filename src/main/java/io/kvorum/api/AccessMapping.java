package io.kvorum.api;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.kvorum.access.ApiKey;
import io.kvorum.access.Denial;
import io.kvorum.access.DeniedException;
import io.kvorum.access.EndpointRight;
import io.kvorum.wire.HttpExchange;
import io.netty.handler.codec.http.HttpHeaderNames;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.actuate.endpoint.ApiVersion;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.health.actuate.endpoint.HealthDescriptor;
import org.springframework.boot.health.actuate.endpoint.ReactiveHealthEndpointWebExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;

/**
 * Checks access to everything that WebFlux serves on either port, before all other
 * mappings. The handlers of entities and ranges are excepted, since they check access
 * themselves. Unknown paths need a key too, so that strangers cannot find out which paths
 * exist.
 * <p>
 * Health, liveness, readiness and whether the node has joined are answered without a key,
 * by one word: probes have no keys, and details are not for strangers.
 */
final class AccessMapping implements HandlerMapping, Ordered {

	/** The paths of the probes behind the path of health. */
	private static final List<String> PROBES = List.of("", "/liveness", "/readiness", "/joined");

	private final ApplicationContext context;

	/**
	 * The paths of the endpoints on the public server; null if management has a server of
	 * its own.
	 */
	private final @Nullable PathPattern endpoints;

	/**
	 * The checks of backups. A check reads a backup wholly and holds up other work on
	 * backups, so it takes the right to operate.
	 */
	private final PathPattern checks;

	/** The paths on the public server that anyone may read. */
	private final List<String> open;

	/** The health groups by their paths. */
	private final Map<String, String[]> probes;

	private final AccessGate access;

	private final ProblemWriter problems;

	private final ObjectProvider<ReactiveHealthEndpointWebExtension> health;

	/**
	 * @param context the context of the public server; requests of others are for
	 * management
	 * @param managementPath the path of the management endpoints, such as
	 * {@code /actuator}
	 * @param open the paths on the public server that anyone may read
	 */
	AccessMapping(ApplicationContext context, String managementPath, List<String> open, AccessGate access,
			ProblemWriter problems, ObjectProvider<ReactiveHealthEndpointWebExtension> health) {
		this.context = context;
		this.endpoints = (ManagementPortType.get(context.getEnvironment()) == ManagementPortType.SAME)
				? PathPatternParser.defaultInstance.parse(managementPath + "/**") : null;
		this.checks = PathPatternParser.defaultInstance.parse(managementPath + "/backup/*/**");
		this.probes = PROBES.stream()
			.collect(Collectors.toUnmodifiableMap(probe -> managementPath + "/health" + probe,
					probe -> probe.isEmpty() ? new String[0] : new String[] { probe.substring(1) }));
		this.open = open;
		this.access = access;
		this.problems = problems;
		this.health = health;
	}

	@Override
	public Mono<Object> getHandler(ServerWebExchange exchange) {
		WebHandler refusal = this.access.requiresKey() ? refusal(exchange) : null;
		return (refusal != null) ? Preflights.found(refusal, exchange) : Mono.empty();
	}

	/**
	 * Returns the handler that answers instead of the one asked for; null if the request
	 * is admitted.
	 */
	private @Nullable WebHandler refusal(ServerWebExchange exchange) {
		boolean isPublic = this.context.equals(exchange.getApplicationContext());
		String path = exchange.getRequest().getURI().getRawPath();
		if (isPublic && (EntityHandler.PATH.equals(path) || RangeHandler.PATH.equals(path)
				|| (this.open.contains(path) && isRead(exchange)))) {
			return null;
		}
		PathContainer within = exchange.getRequest().getPath().pathWithinApplication();
		boolean isEndpoint = !isPublic || (this.endpoints != null && this.endpoints.matches(within));
		String[] probe = (isEndpoint && isRead(exchange)) ? this.probes.get(within.value()) : null;
		try {
			ApiKey caller = this.access.admit(new SpringExchange(exchange));
			if (isEndpoint || ClusterController.PATH.equals(path)) {
				boolean isPlainRead = isRead(exchange) && !this.checks.matches(within);
				caller.require(isPlainRead ? EndpointRight.METRICS : EndpointRight.OPERATE);
			}
			return null;
		}
		catch (DeniedException denied) {
			boolean mayProbe = denied.denial() == Denial.MISSING || denied.denial() == Denial.ENDPOINT;
			return (probe != null && mayProbe) ? it -> answerHealth(it, probe)
					: it -> this.access.refuse(new SpringExchange(it), denied);
		}
	}

	private static boolean isRead(ServerWebExchange exchange) {
		HttpMethod method = exchange.getRequest().getMethod();
		return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
	}

	private Mono<Void> answerHealth(ServerWebExchange webExchange, String[] path) {
		HttpExchange exchange = new SpringExchange(webExchange);
		ReactiveHealthEndpointWebExtension endpoint = this.health.getIfAvailable();
		if (endpoint == null) {
			return this.problems.write(exchange, Problem.UNAUTHORIZED);
		}
		return endpoint.health(ApiVersion.LATEST, null, SecurityContext.NONE, false, path).flatMap(answer -> {
			HealthDescriptor health = answer.getBody();
			String status = (health != null) ? health.getStatus().getCode() : "UNKNOWN";
			exchange.status(answer.getStatus());
			exchange.set(HttpHeaderNames.CONTENT_TYPE, "application/json");
			return this.problems.writeJson(exchange, Map.of("status", status));
		});
	}

	/**
	 * Before all other mappings. {@link EntityMapping} has the same order, and takes only
	 * paths that this one lets through.
	 */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

}
