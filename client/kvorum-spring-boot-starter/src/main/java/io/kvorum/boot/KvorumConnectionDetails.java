package io.kvorum.boot;

import java.net.URI;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * How the cluster is reached. By default it is what the properties say; a bean of this
 * type replaces the URLs, the API key and the SSL bundle of the properties. A test with
 * nodes of its own has for instance
 *
 * <pre>
 * &#64;RegisterExtension
 * static final KvorumExtension kvorum = KvorumExtension.nodes(1);
 *
 * &#64;TestConfiguration(proxyBeanMethods = false)
 * static class Nodes {
 *
 *     &#64;Bean
 *     KvorumConnectionDetails kvorumConnectionDetails() {
 *         return kvorum::urls;
 *     }
 *
 * }
 * </pre>
 */
@FunctionalInterface
public interface KvorumConnectionDetails extends ConnectionDetails {

	/**
	 * The URLs of the nodes.
	 * @return at least one {@code http://host:port} or {@code https://host:port}
	 */
	List<URI> urls();

	/**
	 * The API key. It is asked for before each operation, so it may change, and must not
	 * block.
	 * @return null for none
	 */
	default @Nullable String apiKey() {
		return null;
	}

	/**
	 * The SSL bundle of connections to URLs with https.
	 * @return null for the trust store of the JVM
	 */
	default @Nullable SslBundle sslBundle() {
		return null;
	}

}
