package io.kvorum.boot;

import java.net.URI;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.StringUtils;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.Errors;
import org.springframework.validation.Validator;

/**
 * Properties of the client. All that are out of their limits are reported at once, when
 * the application starts.
 *
 * @param urls URLs of the nodes, as "http://host:port" or "https://host:port". Any node
 * answers for any key. Name all of them, so that the client goes on without one.
 * @param apiKey API key that the client sends with each request. Needed if access to the
 * cluster is by API keys.
 * @param deadline Longest time of an operation with all its repeats, at most 1d.
 * @param attemptTimeout Longest time that a node has to answer one request, at most 1d.
 * Should be longer than the nodes' "kvorum.replication.write-timeout", or writes end
 * without a known outcome.
 * @param connectTimeout Longest time to open a connection, at most 1d.
 * @param maxAttempts Most requests of an operation, from 1, which means no repeats, to
 * 1000.
 * @param maxConnections Most connections to each node, from 1 to 65535. Up to four times
 * as many requests wait for one.
 * @param maxValueSize Largest value that is read, from 1B to 1GB. Should be as large as
 * the nodes' "kvorum.api.max-value-size".
 * @param ssl how connections are secured
 */
@ConfigurationProperties("kvorum.client")
public record KvorumClientProperties(@DefaultValue("http://localhost:8080") List<URI> urls, @Nullable String apiKey,
		@DefaultValue("10s") Duration deadline, @DefaultValue("3s") Duration attemptTimeout,
		@DefaultValue("1s") Duration connectTimeout, @DefaultValue("10") int maxAttempts,
		@DefaultValue("256") int maxConnections, @DefaultValue("1MB") DataSize maxValueSize,
		@DefaultValue Ssl ssl) implements Validator {

	private static final Duration SHORTEST = Duration.ofMillis(1);

	private static final Duration LONGEST = Duration.ofDays(1);

	private static final int MAX_ATTEMPTS = 1000;

	private static final int MAX_CONNECTIONS = 65_535;

	private static final long MAX_VALUE_BYTES = DataSize.ofGigabytes(1).toBytes();

	/** Properties that have not been validated. */
	public KvorumClientProperties {
		urls = List.copyOf(urls);
	}

	@Override
	public boolean supports(Class<?> type) {
		return type == KvorumClientProperties.class;
	}

	/**
	 * Adds a field error for each property that is out of its limits. Spring Boot calls
	 * it after binding, and adds where the property was set.
	 * @param target these properties
	 * @param errors where errors are added
	 */
	@Override
	public void validate(Object target, Errors errors) {
		validateUrls(errors);
		validate("deadline", this.deadline, errors);
		validate("attemptTimeout", this.attemptTimeout, errors);
		validate("connectTimeout", this.connectTimeout, errors);
		if (this.maxAttempts < 1 || this.maxAttempts > MAX_ATTEMPTS) {
			reject("maxAttempts", "must be from 1 to " + MAX_ATTEMPTS, errors);
		}
		if (this.maxConnections < 1 || this.maxConnections > MAX_CONNECTIONS) {
			reject("maxConnections", "must be from 1 to " + MAX_CONNECTIONS, errors);
		}
		if (this.maxValueSize.toBytes() < 1 || this.maxValueSize.toBytes() > MAX_VALUE_BYTES) {
			reject("maxValueSize", "must be from 1B to 1GB", errors);
		}
	}

	private void validateUrls(Errors errors) {
		if (this.urls.isEmpty()) {
			reject("urls", "must have at least one URL of a node", errors);
		}
		if (this.urls.stream().anyMatch((url) -> url.getUserInfo() != null)) {
			// Of the object: Spring Boot prints the value of a field, and the password
			// with it.
			errors.reject("limit", "kvorum.client.urls must be http://host:port or https://host:port, without a user");
			return;
		}
		this.urls.stream()
			.filter((url) -> !isNode(url))
			.forEach((url) -> reject("urls", "must be http://host:port or https://host:port, not " + url, errors));
		if (this.ssl.hasBundle()) {
			this.urls.stream()
				.filter((url) -> "http".equals(url.getScheme()))
				.forEach((url) -> reject("ssl.bundle", "must have URLs with https, not " + url, errors));
		}
	}

	private static boolean isNode(URI url) {
		return url.getHost() != null && url.getUserInfo() == null
				&& ("http".equals(url.getScheme()) || "https".equals(url.getScheme())) && url.getQuery() == null
				&& url.getFragment() == null && (url.getPath().isEmpty() || url.getPath().equals("/"));
	}

	private static void validate(String field, Duration duration, Errors errors) {
		if (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0) {
			reject(field, "must be from 1ms to 1d", errors);
		}
	}

	private static void reject(String field, String reason, Errors errors) {
		errors.rejectValue(field, "limit", reason);
	}

	/** All but the API key, which does not belong in a log. */
	@Override
	public String toString() {
		return "KvorumClientProperties[urls=%s, apiKey=%s, deadline=%s, attemptTimeout=%s, connectTimeout=%s, "
			.formatted(this.urls, (this.apiKey != null) ? "***" : "none", this.deadline, this.attemptTimeout,
					this.connectTimeout)
				+ "maxAttempts=%d, maxConnections=%d, maxValueSize=%s, ssl=%s]".formatted(this.maxAttempts,
						this.maxConnections, this.maxValueSize, this.ssl);
	}

	/**
	 * How connections are secured.
	 *
	 * @param bundle Name of the SSL bundle that connections use. Without one, URLs with
	 * https use the trust store of the JVM.
	 */
	public record Ssl(@Nullable String bundle) {

		boolean hasBundle() {
			return StringUtils.hasText(this.bundle);
		}

	}

}
