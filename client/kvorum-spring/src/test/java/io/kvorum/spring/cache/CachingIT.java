package io.kvorum.spring.cache;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.spring.codec.JsonObjectCodec;
import io.kvorum.test.KvorumExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.CachingConfigurer;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.interceptor.CacheErrorHandler;
import org.springframework.cache.interceptor.LoggingCacheErrorHandler;
import org.springframework.cache.interceptor.SimpleCacheErrorHandler;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@DisplayName("Methods with caching annotations")
@Timeout(60)
class CachingIT {

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(1);

	/** What an application has; not final, since a proxy is made of it. */
	static class Prices {

		final AtomicInteger calls = new AtomicInteger();

		@Cacheable("blocking")
		public String blocking(String article, int amount) {
			return article + amount + '-' + this.calls.incrementAndGet();
		}

		@Cacheable(cacheNames = "synchronized", sync = true)
		public String once(String article) {
			return article + '-' + this.calls.incrementAndGet();
		}

		@Cacheable("reactive")
		public Mono<String> reactive(String article) {
			return Mono.fromCallable(() -> article + '-' + this.calls.incrementAndGet());
		}

		@Cacheable(cacheNames = "reactive", sync = true)
		public Mono<String> reactiveOnce(String article) {
			return reactive(article);
		}

		@Cacheable("future")
		public CompletableFuture<String> future(String article) {
			return CompletableFuture.completedFuture(article + '-' + this.calls.incrementAndGet());
		}

		@CachePut(cacheNames = "reactive", key = "#article")
		public Mono<String> change(String article, String price) {
			return Mono.just(price);
		}

		@CacheEvict("reactive")
		public Mono<Void> forget(String article) {
			return Mono.empty();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching(proxyTargetClass = true)
	static class Caching {

	}

	private static AnnotationConfigApplicationContext context(KvorumClient client, CacheErrorHandler errors) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.registerBean(CacheManager.class,
				() -> KvorumCacheManager
					.builder(client,
							KvorumCacheSettings.of(JsonObjectCodec.of(JsonMapper.shared(), String.class))
								.deadline(Duration.ofSeconds(30)))
					.build());
		context.registerBean(CachingConfigurer.class, () -> new CachingConfigurer() {
			@Override
			public CacheErrorHandler errorHandler() {
				return errors;
			}
		});
		context.register(Caching.class, Prices.class);
		context.refresh();
		return context;
	}

	@Test
	@DisplayName("blocking, reactive and with futures: called once for each key, until it is evicted")
	void annotations() {
		try (KvorumClient client = KvorumClient.builder(kvorum.urls()).build();
				AnnotationConfigApplicationContext context = context(client, new SimpleCacheErrorHandler())) {
			Prices prices = context.getBean(Prices.class);
			assertThat(prices.blocking("tea", 1)).isEqualTo(prices.blocking("tea", 1));
			assertThat(prices.blocking("tea", 2)).isNotEqualTo(prices.blocking("tea", 1));
			assertThat(prices.once("tea")).isEqualTo(prices.once("tea"));
			assertThat(prices.future("tea").join()).isEqualTo(prices.future("tea").join());
			String first = prices.reactive("tea").block();
			assertThat(prices.reactive("tea").block()).isEqualTo(first);
			assertThat(prices.reactiveOnce("tea").block()).isEqualTo(first);
			assertThat(prices.forget("tea").then(Mono.defer(() -> prices.reactive("tea"))).block()).isNotEqualTo(first);
			assertThat(prices.change("tea", "free").then(Mono.defer(() -> prices.reactiveOnce("tea"))).block())
				.isEqualTo("free");
		}
	}

	@Test
	@DisplayName("without a node: Spring's error handler decides whether the method goes on without the cache")
	void noNode() {
		try (KvorumClient lost = KvorumClient.builder("http://localhost:1").deadline(Duration.ofMillis(200)).build();
				AnnotationConfigApplicationContext strict = context(lost, new SimpleCacheErrorHandler());
				AnnotationConfigApplicationContext lenient = context(lost, new LoggingCacheErrorHandler())) {
			assertThatExceptionOfType(KvorumException.class)
				.isThrownBy(() -> strict.getBean(Prices.class).blocking("tea", 1));
			Prices prices = lenient.getBean(Prices.class);
			assertThat(prices.blocking("tea", 1)).startsWith("tea1");
			assertThat(prices.once("tea")).startsWith("tea");
			assertThat(prices.reactive("tea").block()).startsWith("tea");
			assertThat(prices.reactiveOnce("tea").block()).startsWith("tea");
			assertThat(prices.future("tea").join()).startsWith("tea");
		}
	}

}
