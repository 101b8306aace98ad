package io.kvorum.api;

import java.util.List;
import java.util.function.Supplier;

import io.kvorum.access.AccessControl;
import io.kvorum.access.AccessEvents;
import io.kvorum.clock.TimeSource;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.wire.WireRoute;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.health.actuate.endpoint.ReactiveHealthEndpointWebExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.server.WebFilter;
import tools.jackson.databind.json.JsonMapper;

/** Configures the HTTP API; the application supplies a store and settings. */
@Configuration(proxyBeanMethods = false)
public class ApiConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(ApiConfiguration.class);

	@Bean
	ProblemWriter problemWriter(JsonMapper json) {
		return new ProblemWriter(json);
	}

	@Bean
	AccessGate accessGate(AccessControl control, ProblemWriter problems, TimeSource time, AccessEvents events) {
		return new AccessGate(control, problems, time, events);
	}

	/**
	 * A mapping and not a filter, since a filter would send all requests through WebFlux.
	 * The server of a separate management port asks it too.
	 */
	@Bean
	AccessMapping accessMapping(ApplicationContext context,
			@Value("${management.endpoints.web.base-path:/actuator}") String management, AccessGate access,
			ProblemWriter problems, ObjectProvider<ReactiveHealthEndpointWebExtension> health,
			@Nullable ConsoleController console) {
		List<String> open = (console != null) ? ConsoleController.PATHS : List.of();
		return new AccessMapping(context, trimmed(management), open, access, problems, health);
	}

	@Bean
	RequestObservations requestObservations(ApiSettings settings, TimeSource time,
			ObjectProvider<RequestTraces> traces) {
		return new RequestObservations(traces.getIfAvailable(() -> RequestTraces.NONE),
				new SlowRequests(settings.slowRequestTime(), time.nanos()), time);
	}

	@Bean
	EntityHandler entityHandler(KeyValueStore store, AccessGate access, ApiSettings settings, ProblemWriter problems,
			TimeSource time, RequestEvents events, RequestObservations observations) {
		return new EntityHandler(store, access, settings, problems, time, events, observations);
	}

	@Bean
	EntityMapping entityMapping(ApplicationContext context, EntityHandler entities, KeyValueStore store,
			AccessGate access, ApiSettings settings, ProblemWriter problems, RequestObservations observations) {
		return new EntityMapping(context, entities, new RangeHandler(store, access, settings, problems, observations));
	}

	/** The short way to entities; none if the application has filters. */
	@Bean
	WireRoute entityRoute(EntityHandler entities, ObjectProvider<WebFilter> filters) {
		List<WebFilter> all = filters.orderedStream().toList();
		if (all.isEmpty()) {
			return new EntityRoute(entities);
		}
		logger.info("Requests for entities pass WebFlux because of the filters {}", all);
		return WireRoute.NONE;
	}

	@Bean
	UnknownPathMapping unknownPathMapping(ApplicationContext context,
			@Value("${management.endpoints.web.base-path:/actuator}") String management, ProblemWriter problems) {
		return new UnknownPathMapping(context, trimmed(management), problems);
	}

	/** The path without a slash at its end, as Spring Boot reads it. */
	private static String trimmed(String path) {
		return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
	}

	@Bean
	StatusController statusController(Supplier<NodeStatus> status) {
		return new StatusController(status);
	}

}
