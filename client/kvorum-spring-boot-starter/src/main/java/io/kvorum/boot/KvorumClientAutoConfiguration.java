package io.kvorum.boot;

import io.kvorum.client.KvorumClient;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.http.client.HttpClientSettings;
import org.springframework.boot.http.client.HttpRedirects;
import org.springframework.boot.http.client.ReactorHttpClientBuilder;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import reactor.netty.http.client.HttpClient;

/**
 * Makes a {@link KvorumClient}, unless the application has one. Without properties it is
 * a client of the node at {@code http://localhost:8080}. It connects when it is used.
 */
@AutoConfiguration(after = SslAutoConfiguration.class)
@EnableConfigurationProperties(KvorumClientProperties.class)
public final class KvorumClientAutoConfiguration {

	KvorumClientAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean(KvorumConnectionDetails.class)
	PropertiesKvorumConnectionDetails kvorumConnectionDetails(KvorumClientProperties properties,
			ObjectProvider<SslBundles> sslBundles) {
		return new PropertiesKvorumConnectionDetails(properties, sslBundles.getIfAvailable());
	}

	@Bean
	@ConditionalOnMissingBean
	KvorumClient kvorumClient(KvorumClientProperties properties, KvorumConnectionDetails details,
			ObjectProvider<ObservationRegistry> observations, ObjectProvider<KvorumClientCustomizer> customizers) {
		KvorumClient.Builder builder = KvorumClient.builder(details.urls())
			.apiKey(details::apiKey)
			.deadline(properties.deadline())
			.attemptTimeout(properties.attemptTimeout())
			.connectTimeout(properties.connectTimeout())
			.maxAttempts(properties.maxAttempts())
			.maxConnections(properties.maxConnections())
			.maxValueSize(Math.toIntExact(properties.maxValueSize().toBytes()));
		observations.ifUnique(builder::observationRegistry);
		SslBundle bundle = details.sslBundle();
		if (bundle != null) {
			builder.httpClient((http) -> secured(http, bundle));
		}
		customizers.orderedStream().forEach((customizer) -> customizer.customize(builder));
		return builder.build();
	}

	/** Only secured: the client has its own timeouts, and nodes do not redirect. */
	private static HttpClient secured(HttpClient http, SslBundle bundle) {
		return new ReactorHttpClientBuilder().withoutHttpClientDefaults()
			.withHttpClientFactory(() -> http)
			.build(HttpClientSettings.ofSslBundle(bundle).withRedirects(HttpRedirects.DONT_FOLLOW));
	}

}
