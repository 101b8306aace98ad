package io.kvorum.samples.service;

import java.time.Duration;

import io.kvorum.client.KvorumClient;
import io.kvorum.spring.cache.KvorumCacheManager;
import io.kvorum.spring.cache.KvorumCacheSettings;
import io.kvorum.spring.codec.JsonObjectCodec;
import org.springframework.cache.annotation.CachingConfigurer;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.interceptor.CacheErrorHandler;
import org.springframework.cache.interceptor.LoggingCacheErrorHandler;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

@Configuration(proxyBeanMethods = false)
@EnableCaching
class Caching implements CachingConfigurer {

	static final String AMOUNTS = "amounts";

	@Bean
	KvorumCacheManager cacheManager(KvorumClient client, JsonMapper mapper) {
		KvorumCacheSettings settings = KvorumCacheSettings.of(JsonObjectCodec.of(mapper, Long.class));
		return KvorumCacheManager.builder(client, settings)
			.cache(AMOUNTS, amounts -> amounts.ttl(Duration.ofSeconds(5)))
			.onlyNamed()
			.build();
	}

	/** A cache that fails costs a call of the method, not the request. */
	@Override
	public CacheErrorHandler errorHandler() {
		return new LoggingCacheErrorHandler();
	}

}
