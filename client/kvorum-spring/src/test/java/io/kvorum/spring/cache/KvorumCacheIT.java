package io.kvorum.spring.cache;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.client.EntityInfo;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.Range;
import io.kvorum.spring.codec.JavaObjectCodec;
import io.kvorum.spring.codec.JsonObjectCodec;
import io.kvorum.test.KvorumExtension;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.cache.Cache.ValueRetrievalException;
import org.springframework.cache.Cache.ValueWrapper;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@DisplayName("A cache")
@Timeout(60)
class KvorumCacheIT {

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(1);

	private static final JsonMapper MAPPER = JsonMapper.builder().build();

	/** However slow the machine is. */
	private static final KvorumCacheSettings TEXTS = KvorumCacheSettings.of(JsonObjectCodec.of(MAPPER, String.class))
		.deadline(Duration.ofSeconds(30));

	private static final AtomicInteger NAMES = new AtomicInteger();

	@SuppressWarnings("NullAway.Init")
	private static KvorumClient client;

	private final String name = "texts" + NAMES.incrementAndGet();

	/** Two processes of an application. */
	private final KvorumCache cache = cache(TEXTS);

	private final KvorumCache other = cache(TEXTS);

	@BeforeAll
	static void connect() {
		client = KvorumClient.builder(kvorum.urls()).build();
	}

	@AfterAll
	static void close() {
		client.close();
	}

	private KvorumCache cache(KvorumCacheSettings settings) {
		return cache(client, settings);
	}

	private KvorumCache cache(KvorumClient client, KvorumCacheSettings settings) {
		return there(KvorumCacheManager.builder(client, settings).build().getCache(this.name));
	}

	private static @Nullable Object value(@Nullable ValueWrapper wrapper) {
		return there(wrapper).get();
	}

	private static <T> T there(@Nullable T found) {
		assertThat(found).isNotNull();
		return Objects.requireNonNull(found);
	}

	@Test
	@DisplayName("a value that one process puts is found by another, and is not when it is evicted")
	void putAndEvict() {
		assertThat(this.cache.get("key")).isNull();
		this.cache.put("key", "value");
		assertThat(value(this.other.get("key"))).isEqualTo("value");
		assertThat(this.other.get("key", String.class)).isEqualTo("value");
		assertThatIllegalStateException().isThrownBy(() -> this.other.get("key", Integer.class));
		this.other.evict("key");
		assertThat(this.cache.get("key")).isNull();
		assertThat(this.cache.evictIfPresent("key")).isFalse();
		this.cache.put("key", "value");
		assertThat(this.other.evictIfPresent("key")).isTrue();
	}

	@Test
	@DisplayName("null is a value, told from none; without null values it is refused")
	void nulls() {
		this.cache.put("null", null);
		assertThat(value(this.other.get("null"))).isNull();
		assertThat(this.other.get("null", () -> "loaded")).isNull();
		assertThat(this.other.retrieve("null", () -> CompletableFuture.completedFuture("loaded")).join()).isNull();
		assertThat(value((ValueWrapper) this.other.retrieve("null").join())).isNull();
		KvorumCache strict = cache(TEXTS.withoutNullValues());
		assertThatIllegalArgumentException().isThrownBy(() -> strict.put("null", null));
	}

	@Test
	@DisplayName("keys lie below the name of the cache, long ones as a hash")
	void keys() {
		this.cache.put("a/b", "1");
		this.cache.put(List.of("a", 2), "2");
		this.cache.put("x".repeat(2000), "3");
		assertThat(this.other.get("x".repeat(2000), String.class)).isEqualTo("3");
		assertThat(client.entities().blocking().list(Range.prefix("cache/" + this.name + '/')).map(EntityInfo::key))
			.hasSize(3)
			.contains("cache/" + this.name + "/a/b", "cache/" + this.name + "/~List(a,~Integer:2)");
	}

	@Test
	@DisplayName("a key that is no text in UTF-8 is an error, each time")
	void badKey() {
		for (int i = 0; i < 2; i++) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.cache.get("\ud800"));
			assertThatIllegalArgumentException().isThrownBy(() -> this.cache.get("\ud800", () -> "loaded"));
			assertThat(this.cache.retrieve("\ud800", () -> CompletableFuture.completedFuture("loaded")))
				.failsWithin(Duration.ofSeconds(10))
				.withThrowableThat()
				.withCauseInstanceOf(IllegalArgumentException.class);
		}
	}

	@Test
	@DisplayName("a ttl of a second: a value is gone after it")
	void ttl() {
		KvorumCache brief = cache(TEXTS.ttl(Duration.ofSeconds(1)));
		brief.put("key", "value");
		assertThat(brief.putIfAbsent("other", "value")).isNull();
		long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
		while (brief.get("key") != null || brief.get("other") != null) {
			assertThat(System.nanoTime()).isLessThan(end);
			Thread.onSpinWait();
		}
		assertThatIllegalArgumentException().isThrownBy(() -> TEXTS.ttl(Duration.ofMillis(999)));
	}

	@RepeatedTest(5)
	@DisplayName("8 threads of two processes put if absent: one wins, and the others find its value")
	void putIfAbsent() throws Exception {
		List<Callable<@Nullable Object>> tasks = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			String mine = "value " + i;
			KvorumCache taken = (i % 2 == 0) ? this.cache : this.other;
			tasks.add(() -> {
				ValueWrapper existing = taken.putIfAbsent("key", mine);
				return (existing != null) ? existing.get() : null;
			});
		}
		List<@Nullable Object> found = run(tasks);
		Object stored = value(this.cache.get("key"));
		assertThat(found).containsOnlyOnce((Object) null);
		assertThat(found.stream().filter(value -> value != null)).hasSize(7).containsOnly(stored);
	}

	private static <T extends @Nullable Object> List<T> run(List<? extends Callable<T>> tasks) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
		List<T> results = new ArrayList<>();
		for (Future<T> future : threads.invokeAll(tasks)) {
			results.add(future.get());
		}
		threads.shutdown();
		return results;
	}

	@Test
	@DisplayName("8 threads want a value: it is loaded once, on a thread that may block")
	void loadsOnce() throws Exception {
		AtomicInteger loads = new AtomicInteger();
		List<Callable<@Nullable String>> tasks = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			tasks.add(() -> this.cache.get("key", () -> {
				assertThat(Schedulers.isInNonBlockingThread()).isFalse();
				return "loaded " + loads.incrementAndGet();
			}));
		}
		assertThat(run(tasks)).hasSize(8).containsOnly("loaded 1");
		assertThat(this.other.get("key", String.class)).isEqualTo("loaded 1");
	}

	@Test
	@DisplayName("a loader that fails: all who wait are told so, and the next one loads again")
	void loaderFails() {
		assertThatExceptionOfType(ValueRetrievalException.class).isThrownBy(() -> this.cache.get("key", () -> {
			throw new java.io.IOException("no database");
		})).withCauseInstanceOf(java.io.IOException.class);
		assertThat(this.cache.retrieve("key", () -> CompletableFuture.failedFuture(new java.io.IOException("lost"))))
			.failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.withCauseExactlyInstanceOf(java.io.IOException.class);
		assertThat(this.cache.get("key", () -> "loaded")).isEqualTo("loaded");
	}

	@Test
	@DisplayName("a loader that asks for its own key is an error, not a wait without an end")
	void recursion() {
		assertThatExceptionOfType(ValueRetrievalException.class)
			.isThrownBy(() -> this.cache.get("key", () -> this.cache.get("key", () -> "loaded")))
			.withCauseInstanceOf(IllegalStateException.class);
	}

	@Test
	@DisplayName("an eviction while a value is loaded: the old value is not stored, and nobody waits for it")
	void evictedMeanwhile() throws Exception {
		CountDownLatch isLoading = new CountDownLatch(1);
		CountDownLatch mayEnd = new CountDownLatch(1);
		CompletableFuture<@Nullable String> old = CompletableFuture.supplyAsync(() -> this.cache.get("key", () -> {
			isLoading.countDown();
			mayEnd.await();
			return "old";
		}));
		isLoading.await();
		this.cache.evict("key");
		assertThat(this.cache.get("key", () -> "new")).isEqualTo("new");
		this.cache.evict("key");
		mayEnd.countDown();
		assertThat(old.get()).isEqualTo("old");
		assertThat(this.cache.get("key")).isNull();
	}

	@Test
	@DisplayName("a value that another process has put while one was loaded is not overwritten")
	void putMeanwhile() {
		String loaded = this.cache.get("key", () -> {
			this.other.put("key", "newer");
			return "loaded";
		});
		assertThat(loaded).isEqualTo("loaded");
		assertThat(this.cache.get("key", String.class)).isEqualTo("newer");
	}

	@Test
	@DisplayName("retrieve does not block, loads once, and one who gives up does not end the others")
	void retrieve() {
		assertThat(this.cache.retrieve("key").join()).isNull();
		AtomicInteger loads = new AtomicInteger();
		CompletableFuture<String> database = new CompletableFuture<>();
		CompletableFuture<String> first = this.cache.retrieve("key", () -> {
			loads.incrementAndGet();
			return database;
		});
		CompletableFuture<String> second = this.cache.retrieve("key", () -> {
			loads.incrementAndGet();
			return database;
		});
		first.cancel(true);
		database.complete("loaded");
		assertThat(second.join()).isEqualTo("loaded");
		assertThat(loads).hasValue(1);
		assertThat(value((ValueWrapper) this.other.retrieve("key").join())).isEqualTo("loaded");
	}

	@Test
	@DisplayName("put and evict on an event loop do not block it, and what follows in this process sees them")
	void onEventLoop() {
		List<String> seen = Mono.fromCallable(() -> {
			assertThat(Schedulers.isInNonBlockingThread()).isTrue();
			for (int i = 0; i < 20; i++) {
				this.cache.put("key", "value " + i);
			}
			this.cache.put("evicted", "value");
			this.cache.evict("evicted");
			return "";
		})
			.subscribeOn(Schedulers.parallel())
			.then(Mono.defer(() -> Mono.fromFuture(this.cache.retrieve("key"))))
			.map(found -> String.valueOf(((ValueWrapper) found).get()))
			.concatWith(Mono.defer(() -> Mono.fromFuture(this.cache.retrieve("evicted"))).map(Object::toString))
			.collectList()
			.block();
		assertThat(seen).containsExactly("value 19");
	}

	@Test
	@DisplayName("clear removes all entries of this cache, and none of one whose name begins the same")
	void clear() {
		KvorumCacheManager caches = KvorumCacheManager.builder(client, TEXTS).build();
		KvorumCache longer = there(caches.getCache(this.name + "/more"));
		longer.put("key", "stays");
		for (int i = 0; i < 50; i++) {
			this.cache.put(i, "value");
		}
		assertThat(this.cache.invalidate()).isTrue();
		assertThat(this.cache.invalidate()).isFalse();
		assertThat(this.other.get(49)).isNull();
		assertThat(longer.get("key", String.class)).isEqualTo("stays");
		this.cache.put("key", "value");
		this.cache.clear();
		assertThat(this.other.get("key")).isNull();
	}

	@Test
	@DisplayName("counts hits, misses, puts and evictions, for Micrometer too")
	void statistics() {
		this.cache.get("key");
		this.cache.put("key", "value");
		this.cache.get("key");
		this.cache.get("key", () -> "loaded");
		this.cache.get("other", () -> "loaded");
		this.cache.evict("key");
		assertThat(this.cache.statistics()).isEqualTo(new KvorumCacheStatistics(2, 2, 2, 1));
		assertThat(this.cache.statistics().hitRatio()).isEqualTo(0.5);
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		new KvorumCacheMetrics(this.cache, List.of()).bindTo(meters);
		assertThat(meters.get("cache.gets").tag("cache", this.name).tag("result", "hit").functionCounter().count())
			.isEqualTo(2);
		assertThat(meters.get("cache.puts").functionCounter().count()).isEqualTo(2);
	}

	@Test
	@DisplayName("a value of another codec is an error, and is overwritten by a put")
	void otherCodec() {
		this.cache.put("key", "value");
		KvorumCache java = cache(TEXTS.codec(JavaObjectCodec.allowing("com.example")));
		assertThatIllegalArgumentException().isThrownBy(() -> java.get("key")).withMessageContaining("json");
		java.put("key", List.of("value"));
		assertThat(value(java.get("key"))).isEqualTo(List.of("value"));
	}

	@Test
	@DisplayName("without a node each operation fails, so that Spring's error handler decides")
	void noNode() {
		try (KvorumClient lost = KvorumClient.builder("http://localhost:1").deadline(Duration.ofMillis(200)).build()) {
			KvorumCache cache = cache(lost, TEXTS);
			assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> cache.get("key"));
			assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> cache.get("key", () -> "loaded"));
			assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> cache.put("key", "value"));
			assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> cache.putIfAbsent("key", "value"));
			assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> cache.evict("key"));
			assertThatExceptionOfType(KvorumException.class).isThrownBy(cache::clear);
			assertThat(cache.retrieve("key")).failsWithin(Duration.ofSeconds(10))
				.withThrowableThat()
				.withCauseInstanceOf(KvorumException.class);
		}
	}

	@Test
	@DisplayName("only the caches that were named, if that is asked for")
	void onlyNamed() {
		KvorumCacheManager caches = KvorumCacheManager.builder(client, TEXTS)
			.prefix("application/")
			.cache("orders",
					settings -> settings.withoutTtl().keys(key -> ((Optional<?>) key).orElseThrow().toString()))
			.onlyNamed()
			.build();
		assertThat(caches.getCacheNames()).containsExactly("orders");
		assertThat(caches.getCache("order")).isNull();
		KvorumCache orders = there(caches.getCache("orders"));
		orders.put(Optional.of("key"), "value");
		assertThat(client.entities().info("application/orders/key").blockOptional().orElseThrow().expires()).isNull();
	}

}
