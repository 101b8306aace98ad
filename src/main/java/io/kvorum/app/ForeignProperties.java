package io.kvorum.app;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.kvorum.api.wire.WireLimits;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;

/**
 * Properties of Spring Boot's that would change nothing on a node, or only some of its
 * requests: its port has a codec and limits of its own, and entities pass by WebFlux. A
 * node that gets one of them does not start, since its operator relies on it.
 */
final class ForeignProperties {

	private static final String IN_PLACE = "must not be set: %s is in its place";

	private static final String NO_SERVLETS = "must not be set: a node is no servlet container, it runs on Netty";

	private static final WireLimits FIXED = WireLimits.defaults();

	/** By the property, or by what the names of several begin with. */
	private static final Map<ConfigurationPropertyName, Rule> RULES = new LinkedHashMap<>();

	static {
		refuse("server.netty.idle-timeout", IN_PLACE.formatted("kvorum.api.idle-timeout"));
		refuse("server.netty.connection-timeout", IN_PLACE.formatted("kvorum.api.header-timeout"));
		refuse("server.netty.max-initial-line-length", "must not be set: the limit of a request line is %d KB"
			.formatted(FIXED.maxInitialLineLength().toKilobytes()));
		refuse("server.netty", "must not be set: the port has an HTTP codec of its own, which does not read it");
		refuse("server.max-http-request-header-size", "must not be set: the limit of all headers of a request is %d KB"
			.formatted(FIXED.maxHeaderSize().toKilobytes()));
		allow("server.compression.enabled", "false", "must be false: answers are not compressed, a proxy can do that");
		refuse("server.compression", "must not be set: answers are not compressed, a proxy can do that");
		allow("server.http2.enabled", "false", "must be false: the port speaks HTTP/1.1, a proxy can speak HTTP/2");
		allow("server.forward-headers-strategy", "none",
				"must be none: X-Forwarded-* and Forwarded are not read, whoever sends them");
		refuse("server.server-header", "must not be set: answers have no Server header, a proxy can add one");
		refuse("server.error", "must not be set: errors are problem details (RFC 9457)");
		refuse("server.reactive.session", "must not be set: a node has no sessions");
		refuse("server.servlet", NO_SERVLETS);
		refuse("server.tomcat", NO_SERVLETS);
		refuse("server.jetty", NO_SERVLETS);
		refuse("spring.webflux.base-path",
				"must not be set: the paths of the API begin with /v0, a proxy can put something before them");
	}

	private final Iterable<ConfigurationPropertySource> sources;

	private final Binder binder;

	private final List<Violation> violations = new ArrayList<>();

	private ForeignProperties(Iterable<ConfigurationPropertySource> sources, Binder binder) {
		this.sources = sources;
		this.binder = binder;
	}

	/** Those that are set and would not do what they say. */
	static List<Violation> violatedBy(Iterable<ConfigurationPropertySource> sources, Binder binder) {
		ForeignProperties properties = new ForeignProperties(sources, binder);
		RULES.forEach(properties::check);
		return properties.violations;
	}

	private void check(ConfigurationPropertyName name, Rule rule) {
		Set<ConfigurationPropertyName> covered = new LinkedHashSet<>();
		covered.add(name);
		for (ConfigurationPropertySource source : this.sources) {
			if (source instanceof IterableConfigurationPropertySource iterable) {
				iterable.stream().filter(name::isAncestorOf).forEach(covered::add);
			}
		}
		covered.stream()
			.filter(property -> property.equals(name) || !RULES.containsKey(property))
			.forEach(property -> this.binder.bind(property, Bindable.of(String.class))
				.ifBound(value -> check(property, value, rule)));
	}

	private void check(ConfigurationPropertyName name, String value, Rule rule) {
		if (!value.isEmpty() && !value.equalsIgnoreCase(rule.allowed())) {
			this.violations.add(new Violation(name.toString(), value, rule.sentence()));
		}
	}

	private static void refuse(String name, String sentence) {
		allow(name, "", sentence);
	}

	private static void allow(String name, String value, String sentence) {
		RULES.put(ConfigurationPropertyName.of(name), new Rule(value, sentence));
	}

	/**
	 * What may be said of a property.
	 *
	 * @param allowed the value that is what happens anyway; empty if there is none
	 * @param sentence what is allowed, and what to do
	 */
	private record Rule(String allowed, String sentence) {
	}

}
