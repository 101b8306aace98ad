package io.kvorum.boot;

import io.kvorum.client.KvorumClient;
import io.kvorum.spring.cache.KvorumCache;
import io.kvorum.spring.cache.KvorumCacheManager;
import io.kvorum.spring.cache.KvorumCacheMetrics;
import io.kvorum.spring.cache.KvorumCacheSettings;
import io.kvorum.spring.codec.JavaObjectCodec;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.cache.autoconfigure.metrics.CacheMetricsAutoConfiguration;
import org.springframework.boot.cache.metrics.CacheMeterBinderProvider;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("The meters of caches")
class KvorumCacheMetricsAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(KvorumClientAutoConfiguration.class,
				KvorumCacheMetricsAutoConfiguration.class, CacheMetricsAutoConfiguration.class));

	@Test
	@DisplayName("have those of Kvorum, also beside caches that have none")
	void bound() {
		this.runner.withBean(SimpleMeterRegistry.class)
			.withBean("others", CacheManager.class, () -> new ConcurrentMapCacheManager("others"))
			.withUserConfiguration(Caches.class)
			.run((context) -> {
				SimpleMeterRegistry meters = context.getBean(SimpleMeterRegistry.class);
				assertThat(meters.find("cache.puts").tag("cache", "orders").functionCounter()).isNotNull();
				assertThat(meters.find("cache.puts").tag("cache", "others").functionCounter()).isNull();
			});
	}

	@Test
	@DisplayName("the application's own: replace them")
	void own() {
		this.runner.withUserConfiguration(Own.class)
			.run((context) -> assertThat(context).hasSingleBean(CacheMeterBinderProvider.class).hasBean("own"));
	}

	@Test
	@DisplayName("without Boot's caches or without Micrometer on the class path: the application starts")
	void absent() {
		for (String missing : new String[] { "org.springframework.boot.cache", "io.micrometer.core" }) {
			new ApplicationContextRunner().withUserConfiguration(Application.class)
				.withClassLoader(new FilteredClassLoader(missing))
				.run((context) -> assertThat(context).hasNotFailed()
					.hasSingleBean(KvorumClient.class)
					.doesNotHaveBean(KvorumCacheMetricsAutoConfiguration.class));
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class Caches {

		@Bean
		KvorumCacheManager kvorumCaches(KvorumClient client) {
			return KvorumCacheManager.builder(client, KvorumCacheSettings.of(JavaObjectCodec.allowing()))
				.cache("orders", (settings) -> settings)
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Own {

		@Bean
		CacheMeterBinderProvider<KvorumCache> own() {
			return KvorumCacheMetrics::new;
		}

	}

	/** Chooses auto-configurations as Spring Boot does: by what they need. */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ KvorumClientAutoConfiguration.class, KvorumCacheMetricsAutoConfiguration.class })
	static class Application {

	}

}
