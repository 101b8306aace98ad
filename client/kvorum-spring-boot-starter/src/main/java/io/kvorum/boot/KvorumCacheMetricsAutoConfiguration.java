package io.kvorum.boot;

import io.kvorum.spring.cache.KvorumCache;
import io.kvorum.spring.cache.KvorumCacheMetrics;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.cache.metrics.CacheMeterBinderProvider;
import org.springframework.context.annotation.Bean;

/**
 * Adds Kvorum's caches to the meters of caches. Spring Boot binds the caches that a
 * manager has when the application starts.
 */
@AutoConfiguration
@ConditionalOnClass({ CacheMeterBinderProvider.class, MeterBinder.class })
public final class KvorumCacheMetricsAutoConfiguration {

	KvorumCacheMetricsAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	CacheMeterBinderProvider<KvorumCache> kvorumCacheMeterBinderProvider() {
		return KvorumCacheMetrics::new;
	}

}
