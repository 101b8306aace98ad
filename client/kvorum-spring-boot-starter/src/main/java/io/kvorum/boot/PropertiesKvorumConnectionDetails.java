package io.kvorum.boot;

import java.net.URI;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.util.StringUtils;

/** What the properties say of how the cluster is reached. */
final class PropertiesKvorumConnectionDetails implements KvorumConnectionDetails {

	private final KvorumClientProperties properties;

	private final @Nullable SslBundles sslBundles;

	PropertiesKvorumConnectionDetails(KvorumClientProperties properties, @Nullable SslBundles sslBundles) {
		this.properties = properties;
		this.sslBundles = sslBundles;
	}

	@Override
	public List<URI> urls() {
		return this.properties.urls();
	}

	/** An empty key is none: that is what a placeholder with an empty default leaves. */
	@Override
	public @Nullable String apiKey() {
		return StringUtils.hasText(this.properties.apiKey()) ? this.properties.apiKey() : null;
	}

	@Override
	public @Nullable SslBundle sslBundle() {
		String name = this.properties.ssl().bundle();
		if (!StringUtils.hasText(name)) {
			return null;
		}
		if (this.sslBundles == null) {
			throw new IllegalStateException(
					"kvorum.client.ssl.bundle is '%s', but the application has no SslBundles".formatted(name));
		}
		return this.sslBundles.getBundle(name);
	}

}
