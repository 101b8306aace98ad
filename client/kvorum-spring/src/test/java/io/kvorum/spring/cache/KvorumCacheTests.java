package io.kvorum.spring.cache;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.spring.FakeNode;
import io.kvorum.spring.UnlinkedCodec;
import io.kvorum.spring.codec.JsonObjectCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.cache.Cache.ValueRetrievalException;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@DisplayName("A cache, at the worst moment")
@Timeout(60)
class KvorumCacheTests {

	private final FakeNode node = new FakeNode();

	private final KvorumClient client = this.node.client().build();

	/** However slow the machine is. */
	private final KvorumCacheSettings texts = KvorumCacheSettings
		.of(JsonObjectCodec.of(JsonMapper.shared(), String.class))
		.deadline(Duration.ofSeconds(30));

	private final KvorumCache cache = Objects
		.requireNonNull(KvorumCacheManager.builder(this.client, this.texts).build().getCache("texts"));

	private final AtomicInteger loads = new AtomicInteger();

	@AfterEach
	void close() {
		this.client.close();
		this.node.close();
	}

	/** A call on a thread of its own. */
	private static final class Call extends FutureTask<@Nullable String> {

		private final Thread thread = new Thread(this);

		Call(Callable<@Nullable String> call) {
			super(call);
			this.thread.start();
		}

		void interrupt() {
			this.thread.interrupt();
		}

		/** Until the thread waits, the test's timeout at the latest. */
		Call awaitWaiting() {
			while (this.thread.getState() != Thread.State.WAITING) {
				assertThat(isDone()).isFalse();
				Thread.onSpinWait();
			}
			return this;
		}

	}

	private String load() {
		return "load " + this.loads.incrementAndGet();
	}

	@Test
	@DisplayName("the thread that loads is interrupted: one of those that wait loads instead")
	void loaderInterrupted() throws Exception {
		CountDownLatch isLoading = new CountDownLatch(1);
		Call loading = new Call(() -> this.cache.get("key", () -> {
			isLoading.countDown();
			new CountDownLatch(1).await();
			return "";
		}));
		isLoading.await();
		Call waiting = new Call(() -> this.cache.get("key", this::load)).awaitWaiting();
		CompletableFuture<String> retrieved = this.cache.retrieve("key",
				() -> CompletableFuture.completedFuture(load()));
		loading.interrupt();
		assertThatExceptionOfType(ValueRetrievalException.class).isThrownBy(() -> get(loading))
			.withCauseInstanceOf(InterruptedException.class);
		assertThat(waiting.get()).isEqualTo("load 1");
		assertThat(retrieved.join()).isEqualTo("load 1");
	}

	/** What the call threw. */
	private static void get(Call call) throws Throwable {
		try {
			call.get();
		}
		catch (java.util.concurrent.ExecutionException ex) {
			throw Objects.requireNonNull(ex.getCause());
		}
	}

	@Test
	@DisplayName("nodes are silent: the application waits as long as the cache may take, and no longer")
	void silentNodes() {
		this.node.always(request -> Mono.never());
		KvorumCache quick = Objects.requireNonNull(
				KvorumCacheManager
					.builder(this.client,
							KvorumCacheSettings.of(JsonObjectCodec.of(JsonMapper.shared(), String.class))
								.deadline(Duration.ofMillis(100)))
					.build()
					.getCache("texts"));

		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> quick.get("key"));
		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> quick.put("key", "value"));
		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> quick.evict("key"));
		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> quick.putIfAbsent("key", "value"));
		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> quick.get("key", this::load));
	}

	@Test
	@DisplayName("null is not allowed any more: a value takes its place")
	void nullsOfBefore() {
		this.cache.put("key", null);
		KvorumCache strict = Objects.requireNonNull(
				KvorumCacheManager
					.builder(this.client,
							KvorumCacheSettings.of(JsonObjectCodec.of(JsonMapper.shared(), String.class))
								.withoutNullValues())
					.build()
					.getCache("texts"));

		assertThat(strict.get("key", this::load)).isEqualTo("load 1");
		assertThat(strict.get("key", this::load)).isEqualTo("load 1");
		this.cache.put("other", null);
		assertThat(strict.putIfAbsent("other", "put")).isNull();
		assertThat(strict.get("other", String.class)).isEqualTo("put");
	}

	@Test
	@DisplayName("the thread that reads the value is interrupted: one of those that wait reads it instead")
	void readerInterrupted() throws Exception {
		this.cache.put("key", "stored");
		Sinks.Empty<Void> isReading = Sinks.empty();
		this.node.next(request -> {
			isReading.tryEmitEmpty().orThrow();
			return Mono.never();
		});
		AtomicInteger interrupts = new AtomicInteger();
		Call reading = new Call(() -> {
			try {
				return this.cache.get("key", this::load);
			}
			finally {
				interrupts.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
			}
		});
		isReading.asMono().block();
		Call waiting = new Call(() -> this.cache.get("key", this::load)).awaitWaiting();
		reading.interrupt();
		assertThat(waiting.get()).isEqualTo("stored");
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> get(reading))
			.withCauseInstanceOf(InterruptedException.class);
		assertThat(interrupts).hasValue(1);
		assertThat(this.loads).hasValue(0);
	}

	@Test
	@DisplayName("a get that would load on an event loop is an error, which those that wait do not share")
	void getOnEventLoop() throws Exception {
		Sinks.Empty<Void> mayLoad = Sinks.empty();
		CountDownLatch isLoading = new CountDownLatch(1);
		Call loading = new Call(() -> this.cache.get("key", () -> {
			isLoading.countDown();
			mayLoad.asMono().block(Duration.ofSeconds(30));
			return load();
		}));
		isLoading.await();
		Mono<String> onEventLoop = Mono.fromCallable(() -> this.cache.get("key", this::load))
			.subscribeOn(Schedulers.parallel());
		assertThatIllegalStateException().isThrownBy(onEventLoop::block).withMessageContaining("retrieve");
		mayLoad.tryEmitEmpty().orThrow();
		assertThat(loading.get()).isEqualTo("load 1");
	}

	@Test
	@DisplayName("where there is no value, the loader of retrieve and what follows may block")
	void missMayBlock() {
		Supplier<String> mayBlock = () -> Schedulers.isInNonBlockingThread() ? "no" : "yes";
		CompletableFuture<String> loaded = this.cache.retrieve("key",
				() -> CompletableFuture.completedFuture(mayBlock.get()));
		assertThat(loaded.join()).isEqualTo("yes");
		assertThat(this.cache.retrieve("none").thenApply(none -> mayBlock.get()).join()).isEqualTo("yes");
	}

	@Test
	@DisplayName("a class that cannot be loaded is an error of the operation, which nobody waits for without an end")
	void unlinked() {
		KvorumCache unlinked = Objects
			.requireNonNull(KvorumCacheManager.builder(this.client, this.texts.codec(new UnlinkedCodec()))
				.build()
				.getCache("texts"));
		this.cache.put("key", "stored");
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> unlinked.get("key"));
		assertThat(unlinked.retrieve("key")).failsWithin(Duration.ofSeconds(20));
		CompletableFuture<String> loaded = unlinked.retrieve("other", () -> CompletableFuture.completedFuture(load()));
		assertThat(loaded).as("loaded, and not stored").succeedsWithin(Duration.ofSeconds(20));
		Mono.fromRunnable(() -> unlinked.put("other", "value")).subscribeOn(Schedulers.parallel()).block();
		assertThat(unlinked.retrieve("other")).succeedsWithin(Duration.ofSeconds(20));
	}

}
