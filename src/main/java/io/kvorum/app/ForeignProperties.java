package io.kvorum.app;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

import io.kvorum.wire.Drain;
import io.kvorum.wire.WireLimits;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.convert.ConversionFailedException;

/**
 * Properties of Spring Boot that a node ignores, or applies to some requests only. Its
 * port has a codec and limits of its own, and entities bypass WebFlux. A node with such a
 * property does not start, since its operator relies on an effect that is not there.
 */
final class ForeignProperties {

	private static final String REPLACED = "must not be set: use %s instead";

	private static final String NO_SERVLETS = "must not be set: a node is no servlet container, it runs on Netty";

	private static final String PROBLEMS = "must not be set: errors are problem details (RFC 9457)";

	private static final WireLimits FIXED = WireLimits.defaults();

	/** Rules by the name of a property, or by the common prefix of several properties. */
	private static final Map<ConfigurationPropertyName, Rule> RULES = new LinkedHashMap<>();

	/**
	 * Names with a rule of their own, in the form of {@link #letters}. The rule of a
	 * prefix does not apply to them.
	 */
	private static final Set<String> LETTERS = new HashSet<>();

	static {
		refuse("server.netty.idle-timeout", REPLACED.formatted("kvorum.api.idle-timeout"));
		refuse("server.netty.connection-timeout", REPLACED.formatted("kvorum.api.header-timeout"));
		refuse("server.netty.max-initial-line-length", "must not be set: the limit of a request line is %d KB"
			.formatted(FIXED.maxInitialLineLength().toKilobytes()));
		refuse("server.netty", "must not be set: the port has an HTTP codec of its own, which does not read it");
		refuse("server.max-http-request-header-size", "must not be set: the limit of all headers of a request is %d KB"
			.formatted(FIXED.maxHeaderSize().toKilobytes()));
		mustBeFalse("server.compression.enabled", "must be false: answers are not compressed, a proxy can do that");
		refuse("server.compression", "must not be set: answers are not compressed, a proxy can do that");
		mustBeFalse("server.http2.enabled", "must be false: the port speaks HTTP/1.1, a proxy can speak HTTP/2");
		// The empty value is refused too: on Kubernetes it means native.
		mustBe("server.forward-headers-strategy", "none", "must be none: X-Forwarded-* and Forwarded are never read");
		refuse("server.server-header", "must not be set: answers have no Server header, a proxy can add one");
		mustBe("server.shutdown", "graceful",
				"must be graceful: a stopping node always finishes the requests that have arrived");
		refuse("server.error", PROBLEMS);
		refuse("spring.web.error", PROBLEMS);
		refuse("server.reactive.session", "must not be set: a node has no sessions");
		refuse("server.servlet", NO_SERVLETS);
		refuse("server.tomcat", NO_SERVLETS);
		refuse("server.jetty", NO_SERVLETS);
		refuse("spring.webflux.multipart", "must not be set: a node takes no forms");
		refuse("management.endpoints.web.path-mapping",
				"must not be set: access by API keys and the command line know the endpoints by their own names");
		mustBeFalse("management.endpoint.health.probes.add-additional-paths",
				"must be false: who may read the details of health is decided by its path below /actuator");
		rule("spring.lifecycle.timeout-per-shutdown-phase", ForeignProperties::isLongerThanDrain,
				"must be longer than the 5 s that requests under way are waited for, such as 6s");
		refuse("spring.task", "must not be set: a node has no executor of Spring");
		refuse("spring.webflux.base-path",
				"must not be set: the paths of the API begin with /v0, a proxy can add a prefix");
	}

	private final Iterable<ConfigurationPropertySource> sources;

	private final Binder binder;

	private final List<Violation> violations = new ArrayList<>();

	private ForeignProperties(Iterable<ConfigurationPropertySource> sources, Binder binder) {
		this.sources = sources;
		this.binder = binder;
	}

	/** The violations by properties that are set and have no effect. */
	static List<Violation> violatedBy(Iterable<ConfigurationPropertySource> sources, Binder binder) {
		ForeignProperties properties = new ForeignProperties(sources, binder);
		RULES.forEach(properties::check);
		properties.checkHealthPaths();
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
			.filter(property -> property.equals(name) || !LETTERS.contains(letters(property)))
			.forEach(property -> this.binder.bind(property, Bindable.of(String.class))
				.ifBound(value -> check(property, value, rule)));
	}

	/** As the additional paths of probes, of any group. */
	private void checkHealthPaths() {
		ConfigurationPropertyName groups = ConfigurationPropertyName.of("management.endpoint.health.group");
		for (ConfigurationPropertySource source : this.sources) {
			if (source instanceof IterableConfigurationPropertySource iterable) {
				iterable.stream()
					.filter(name -> groups.isAncestorOf(name) && letters(name).endsWith("additionalpath"))
					.forEach(name -> this.violations.add(new Violation(name.toString(), "",
							"must not be set: who may read the details of health is decided by its path below /actuator")));
			}
		}
	}

	private void check(ConfigurationPropertyName name, String value, Rule rule) {
		if (!rule.allowed().test(value)) {
			this.violations.add(new Violation(name.toString(), value, rule.sentence()));
		}
	}

	/**
	 * The name of a property or of its variable, without what differs between these: dots
	 * and the like, and the index in a list.
	 */
	static String letters(Object name) {
		return name.toString().toLowerCase(Locale.ROOT).replaceAll("\\[?[0-9]+]?$|[._-]", "");
	}

	private static void refuse(String name, String sentence) {
		rule(name, String::isEmpty, sentence);
	}

	private static void mustBe(String name, String allowed, String sentence) {
		rule(name, allowed::equalsIgnoreCase, sentence);
	}

	private static void mustBeFalse(String name, String sentence) {
		rule(name, value -> value.isEmpty() || isFalse(value), sentence);
	}

	private static boolean isLongerThanDrain(String value) {
		try {
			return value.isEmpty() || DurationStyle.detectAndParse(value).compareTo(Drain.PATIENCE) > 0;
		}
		catch (IllegalArgumentException _) {
			// Spring Boot says what is wrong with it.
			return true;
		}
	}

	private static boolean isFalse(String value) {
		try {
			return Boolean.FALSE.equals(ApplicationConversionService.getSharedInstance().convert(value, Boolean.class));
		}
		catch (ConversionFailedException _) {
			return false;
		}
	}

	private static void rule(String property, Predicate<String> allowed, String sentence) {
		ConfigurationPropertyName name = ConfigurationPropertyName.of(property);
		RULES.put(name, new Rule(allowed, sentence));
		LETTERS.add(letters(name));
	}

	/**
	 * Rule for a property.
	 *
	 * @param allowed accepts the values that describe what happens anyway
	 * @param sentence the allowed values and the remedy
	 */
	private record Rule(Predicate<String> allowed, String sentence) {
	}

}
