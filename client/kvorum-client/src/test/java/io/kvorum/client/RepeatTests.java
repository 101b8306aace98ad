package io.kvorum.client;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import io.kvorum.client.KvorumException.AccessDenied;
import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.KvorumException.Contention;
import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.client.KvorumException.NotEnoughReplicas;
import io.kvorum.client.KvorumException.Overloaded;
import io.kvorum.client.KvorumException.UnexpectedAnswer;
import io.kvorum.client.KvorumException.ValueTooLarge;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

@DisplayName("What is repeated, and what is not")
class RepeatTests {

	private static final String UNKNOWN = ",\"outcome\":\"unknown\",\"retryable\":true";

	private static final String NOT_APPLIED = ",\"outcome\":\"not-applied\",\"retryable\":true";

	private final FakeNode one = new FakeNode();

	private final FakeNode other = new FakeNode();

	private KvorumClient client = KvorumClient.builder(List.of(this.one.url())).build();

	@AfterEach
	void close() {
		this.client.close();
		this.one.close();
		this.other.close();
	}

	/** With the first node asked first. */
	private BlockingEntities<String> texts(URI... urls) {
		return texts(KvorumClient.builder(List.of(urls)).deadline(Duration.ofSeconds(5)));
	}

	private BlockingEntities<String> texts(KvorumClient.Builder builder) {
		return client(builder).blocking();
	}

	private Entities<String> client(KvorumClient.Builder builder) {
		this.client.close();
		this.client = builder.build();
		return this.client.entities(Codec.text());
	}

	/** Requests of both nodes. */
	private int requests() {
		return this.one.got().size() + this.other.got().size();
	}

	@Test
	@DisplayName("A write whose connection is refused goes to another node")
	void refused() {
		this.one.thenStored("v1");
		this.other.close();

		for (int i = 0; i < 10; i++) {
			assertThat(texts(this.other.url(), this.one.url()).put("key", "value")).isEqualTo(new Version("v1"));
		}
	}

	@Test
	@DisplayName("Nodes that have left their keys to others never keep an operation from those")
	void retired() {
		this.one.thenProblem(503, "retired", NOT_APPLIED);
		this.other.thenStored("v1");
		BlockingEntities<String> texts = texts(
				KvorumClient.builder(List.of(this.one.url(), this.other.url())).maxAttempts(1));

		for (int i = 0; i < 500; i++) {
			assertThat(texts.put("key", "value")).isEqualTo(new Version("v1"));
		}
	}

	/** As one that has lost its peers: it refuses faster than others answer. */
	@Test
	@DisplayName("A node that answers fast, and never what is asked, is left alone")
	void fastFailure() {
		this.one.thenProblem(504, "not-enough-replicas", NOT_APPLIED);
		this.other.thenValue("v1", "value");
		BlockingEntities<String> texts = texts(this.one.url(), this.other.url());

		for (int i = 0; i < 500; i++) {
			assertThat(texts.get("key")).isPresent();
		}
		assertThat(this.one.got().size()).isLessThan(50);
	}

	@Test
	@DisplayName("An update of a thread that may block changes the value on that thread, which may ask nodes there, and begins again if others were faster")
	void blockingUpdate() {
		this.one.thenValue("v1", "a")
			.thenValue("v2", "nested")
			.thenProblem(412, "precondition-failed", ",\"outcome\":\"not-applied\",\"current\":\"\\\"v3\\\"\"")
			.thenValue("v3", "b")
			.thenValue("v2", "nested")
			.thenStored("v4");
		BlockingEntities<String> texts = texts(this.one.url());
		List<Thread> threads = new ArrayList<>();
		UnaryOperator<@Nullable String> change = value -> {
			threads.add(Thread.currentThread());
			return value + texts.get("other").orElseThrow().value();
		};

		assertThat(texts.update("key", change)).map(Entity::value).hasValue("bnested");
		assertThat(threads).containsExactly(Thread.currentThread(), Thread.currentThread());
		assertThat(this.one.got()).extracting(got -> got.headers().get("If-Match"))
			.containsExactly(null, null, "\"v1\"", null, null, "\"v3\"");
	}

	@Test
	@DisplayName("On a thread that must not block nothing is sent")
	void blockingWhereNoneMay() {
		this.one.thenStored("v1");
		BlockingEntities<String> texts = texts(this.one.url());
		Mono<Version> put = Mono.fromCallable(() -> texts.put("key", "value")).subscribeOn(Schedulers.parallel());

		assertThatIllegalStateException().isThrownBy(put::block).withMessageContaining("it sends nothing");
		assertThat(texts.put("key", "value")).isEqualTo(new Version("v1"));
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("If all have, it ends as any other failure")
	void allRetired() {
		this.one.thenProblem(503, "retired", NOT_APPLIED);
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url())).maxAttempts(2));

		assertThatExceptionOfType(Overloaded.class).isThrownBy(() -> texts.put("key", "value"))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.NOT_APPLIED));
		assertThat(requests()).isEqualTo(3);
	}

	@Test
	@DisplayName("They are left alone for as long as they ask for")
	void retiredForAWhile() {
		this.one
			.then(reply -> reply.send(503, Map.of("Content-Type", "application/problem+json", "Retry-After", "3600"),
					"{\"type\":\"urn:kvorum:problem:retired\",\"status\":503%s}".formatted(NOT_APPLIED)));
		this.other.thenStored("v1");
		BlockingEntities<String> texts = texts(this.one.url(), this.other.url());

		for (int i = 0; i < 20; i++) {
			texts.put("key", "value");
		}
		assertThat(this.one.got().size()).isLessThanOrEqualTo(2);
	}

	@Test
	@DisplayName("A write whose connection breaks may have happened: it is sent once")
	void broken() {
		this.one.thenBreak();
		this.other.thenBreak();
		BlockingEntities<String> texts = texts(this.one.url(), this.other.url());

		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> texts.put("key", "value"))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("The same of a connection that is reset, which reactor-netty would repeat by itself")
	void reset() {
		this.one.thenStored("v1").thenReset();
		BlockingEntities<String> texts = texts(this.one.url());
		texts.put("key", "so that there is a connection");

		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> texts.put("key", "value"))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
		assertThat(requests()).isEqualTo(2);
	}

	@Test
	@DisplayName("An error of a node, or of a proxy, after which a write may have happened")
	void failed() {
		this.one.thenProblem(500, "internal-error")
			.then(reply -> reply.send(503, Map.of("Content-Type", "text/html"), "<h1>Service unavailable</h1>"));
		BlockingEntities<String> texts = texts(this.one.url());

		for (int i = 1; i <= 2; i++) {
			assertThatExceptionOfType(UnexpectedAnswer.class).isThrownBy(() -> texts.put("key", "value"))
				.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
			assertThat(requests()).isEqualTo(i);
		}
	}

	@Test
	@DisplayName("What a HEAD is refused for is known by its status")
	void head() {
		this.one.then(reply -> reply.send(401, Map.of(), "")).then(reply -> reply.send(504, Map.of(), ""));
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url())).maxAttempts(2));

		assertThatExceptionOfType(AccessDenied.class).isThrownBy(() -> texts.info("key"));
		assertThat(requests()).isEqualTo(1);
		assertThatExceptionOfType(NotEnoughReplicas.class).isThrownBy(() -> texts.info("key"));
		assertThat(requests()).isEqualTo(3);
	}

	@Test
	@DisplayName("A GET that is refused without a problem is not refused by Kvorum")
	void refusedByAProxy() {
		this.one.then(reply -> reply.send(403, Map.of(), ""))
			.then(reply -> reply.send(403, Map.of("Content-Type", "text/html"), "x".repeat(100_000)));
		BlockingEntities<String> texts = texts(this.one.url());

		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(UnexpectedAnswer.class).isThrownBy(() -> texts.get("key"));
		}
	}

	@Test
	@DisplayName("An answer that is longer than this client takes does not tell that nothing was done")
	void longProblem() {
		this.one.thenProblem(504, "not-enough-replicas", UNKNOWN, ",\"more\":\"%s\"".formatted("x".repeat(100_000)));
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url())).maxValueSize(10));

		assertThatExceptionOfType(UnexpectedAnswer.class).isThrownBy(() -> texts.put("key", "value"))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("A value that is longer than this client takes says so, once")
	void longValue() {
		this.one.thenValue("v1", "hello");
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url())).maxValueSize(4));

		assertThatExceptionOfType(ValueTooLarge.class).isThrownBy(() -> texts.get("key"))
			.withMessageContaining("maxValueSize of this client, 4 bytes");
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("A content type may be any text")
	void contentType() {
		this.one.then(reply -> reply.send(200,
				Map.of("Kvorum-Consistency", "linearizable", "ETag", "\"v1\"", "Content-Type", "garbage"), "hello"));

		assertThat(texts(this.one.url()).get("key")).map(Entity::contentType).hasValue("garbage");
	}

	@Test
	@DisplayName("Also that of a value that is written")
	void writtenContentType() {
		this.one.thenStored("v1");
		this.client.close();
		this.client = KvorumClient.builder(List.of(this.one.url())).build();
		for (String type : List.of("garbage", "text/plain;charset=none")) {
			assertThat(this.client.entities(new Typed(type)).blocking().put("key", "value"))
				.isEqualTo(new Version("v1"));
			assertThat(this.one.got()).last().extracting(FakeNode.Got::body).isEqualTo("value");
		}
	}

	private static final class Typed implements Codec<String> {

		private final String contentType;

		private Typed(String contentType) {
			this.contentType = contentType;
		}

		@Override
		public String contentType() {
			return this.contentType;
		}

		@Override
		public byte[] encode(String value) {
			return TextCodec.INSTANCE.encode(value);
		}

		@Override
		public String decode(byte[] value, String contentType) {
			return TextCodec.INSTANCE.decode(value, contentType);
		}

	}

	@Test
	@DisplayName("An ETag that is none of Kvorum is no success that can be told")
	void weakEtag() {
		this.one.then(reply -> reply.send(201, Map.of("Kvorum-Consistency", "linearizable", "ETag", "W/\"v1\""), ""));
		BlockingEntities<String> texts = texts(this.one.url());

		assertThatExceptionOfType(UnexpectedAnswer.class).isThrownBy(() -> texts.put("key", "value"))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
	}

	@Test
	@DisplayName("A filter that leaves the context of Reactor, which says what was sent: nothing is, and the error says why")
	void lostContext() {
		this.one.thenBreak();
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url()))
			.webClient(
					builder -> builder.filter((request, next) -> Mono.fromFuture(next.exchange(request).toFuture()))));

		assertThatIllegalStateException().isThrownBy(() -> texts.put("key", "value"))
			.withMessageContaining("a filter of its WebClient");
		assertThatIllegalStateException().isThrownBy(() -> texts.list(Range.all()).toList())
			.withMessageContaining("a filter of its WebClient");
		assertThat(requests()).isZero();
	}

	@Test
	@DisplayName("An exchange function that knows nothing of what was sent is replaced")
	void exchangeFunction() {
		this.one.thenStored("v1");
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url()))
			.webClient(builder -> builder
				.exchangeFunction(request -> Mono.error(new IllegalStateException("sent, and broken")))));

		assertThat(texts.put("key", "value")).isEqualTo(new Version("v1"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" })
	@DisplayName("What is no HTTP is no answer: a read goes on at another node, a write may have happened")
	void noHttp(String bytes) {
		this.one.thenBytes(bytes);
		this.other.thenValue("v1", "hello");
		BlockingEntities<String> both = texts(this.one.url(), this.other.url());
		// The first node is drawn.
		do {
			assertThat(both.get("key")).map(Entity::value).hasValue("hello");
		}
		while (this.one.got().isEmpty());

		BlockingEntities<String> texts = texts(this.one.url());
		int before = this.one.got().size();
		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> texts.put("key", "value"))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
		assertThat(this.one.got()).hasSize(before + 1);
	}

	@Test
	@DisplayName("An API key that cannot be a header is told as it is, and nothing is sent")
	void badApiKey() {
		this.one.thenStored("v1");
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url())).apiKey("two\nlines"));

		assertThatIllegalArgumentException().isThrownBy(() -> texts.put("key", "value"));
		assertThat(requests()).isZero();
	}

	@Test
	@DisplayName("A request that waits for a connection in vain was not sent, and the node is not to blame")
	void noConnectionLeft() {
		this.one.thenSilence();
		Entities<String> texts = client(KvorumClient.builder(List.of(this.one.url()))
			.maxConnections(1)
			.maxAttempts(1)
			.attemptTimeout(Duration.ofSeconds(2)));

		List<Outcome> outcomes = Flux.range(0, 3)
			.flatMap(i -> texts.put("key", "value")
				.map(version -> Outcome.NOT_APPLIED)
				.onErrorResume(NoAnswer.class, ex -> Mono.just(ex.outcome())))
			.collectList()
			.block(Duration.ofSeconds(30));
		assertThat(outcomes).containsExactlyInAnyOrder(Outcome.UNKNOWN, Outcome.NOT_APPLIED, Outcome.NOT_APPLIED);
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("Nor is it if the operation has less time than the pool")
	void noConnectionLeftUntilTheDeadline() {
		this.one.thenSilence();
		Entities<String> texts = client(KvorumClient.builder(List.of(this.one.url())).maxConnections(1).maxAttempts(1));
		WriteOptions hurried = WriteOptions.DEFAULTS.deadline(Duration.ofSeconds(1));
		Disposable holder = texts.put("key", "value", WriteOptions.DEFAULTS.deadline(Duration.ofMinutes(1)))
			.subscribe();

		assertThatExceptionOfType(NoAnswer.class)
			.isThrownBy(() -> texts.put("key", "value", hurried).block(Duration.ofSeconds(30)))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.NOT_APPLIED))
			.matches(ex -> !ex.isOfNode());
		holder.dispose();
	}

	@Test
	@DisplayName("A node that a caller in a hurry does not wait for is not to blame")
	void hurried() {
		this.one.thenSilence();
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url())).maxAttempts(1));

		assertThatExceptionOfType(NoAnswer.class)
			.isThrownBy(() -> texts.get("key", ReadOptions.DEFAULTS.deadline(Duration.ofMillis(100))))
			.matches(ex -> !ex.isOfNode());
		assertThatExceptionOfType(NoAnswer.class)
			.isThrownBy(() -> texts.get("key", ReadOptions.DEFAULTS.deadline(Duration.ofMillis(600))))
			.matches(NoAnswer::isOfNode);
	}

	@Test
	@DisplayName("TLS with a node that has none: nothing was sent")
	void noTls() {
		this.one.thenStored("v1");
		BlockingEntities<String> texts = texts(
				KvorumClient.builder("https://127.0.0.1:" + this.one.url().getPort()).maxAttempts(2));

		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> texts.put("key", "value"))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.NOT_APPLIED));
	}

	@Test
	@DisplayName("A supplier of the API key that fails ends the operation, and leaves nothing in flight")
	void keyFails() {
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url())).apiKey(() -> {
			throw new UnsupportedOperationException("no key today");
		}));

		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> texts.put("key", "value"));
		assertThat(requests()).isZero();
	}

	@Test
	@DisplayName("What asks to be left alone for a second is, if there is no other node")
	void retryAfter() {
		this.one.then(reply -> reply.send(429, Map.of("Content-Type", "application/problem+json", "Retry-After", "1"),
				"{\"type\":\"urn:kvorum:problem:too-many-requests\",\"retryable\":true}"))
			.thenStored("v1");
		BlockingEntities<String> texts = texts(this.one.url());

		long begun = System.nanoTime();
		assertThat(texts.put("key", "value")).isEqualTo(new Version("v1"));
		assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
	}

	@Test
	@DisplayName("The deadline ends the repeats")
	void deadline() {
		this.one.thenProblem(503, "not-accepted", NOT_APPLIED);
		BlockingEntities<String> texts = texts(
				KvorumClient.builder(List.of(this.one.url())).maxAttempts(1_000).deadline(Duration.ofMillis(500)));

		// The last request may be cut off where the machine is slow.
		assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> texts.put("key", "value"))
			.satisfies(ex -> assertThat(ex).isInstanceOfAny(Overloaded.class, NoAnswer.class));
		assertThat(this.one.got()).hasSizeLessThan(100);
	}

	@Test
	@DisplayName("A node is told of a time that is shorter than its own, and less than that, so that its answer arrives")
	void deadlineTravels() {
		this.one.thenStored("v1");
		texts(this.one.url()).put("key", "value");
		texts(KvorumClient.builder(List.of(this.one.url())).deadline(Duration.ofSeconds(2))).put("key", "value");

		assertThat(this.one.got().get(0).uri()).isEqualTo("/v0/entity?id=key");
		String told = this.one.got().get(1).uri();
		assertThat(told).matches("/v0/entity\\?id=key&timeout=[0-9]+ms");
		assertThat(Integer.parseInt(told.replaceAll(".*=|ms", ""))).isBetween(1, 1_800);
	}

	@Test
	@DisplayName("An ETag that is none of Kvorum's, on the answer of a proxy, is an unexpected answer")
	void etagOfAProxy() {
		this.one.then(reply -> reply.send(404, Map.of("ETag", "\"not one\""), ""));
		BlockingEntities<String> texts = texts(this.one.url());

		assertThatExceptionOfType(UnexpectedAnswer.class).isThrownBy(() -> texts.get("key"));
	}

	@Test
	@DisplayName("A class that a codec needs and that is not there is an exception, and not silence")
	void unlinkedCodec() {
		this.one.thenValue("v1", "value");
		client(KvorumClient.builder(List.of(this.one.url())));
		BlockingEntities<String> values = this.client.entities(new Unlinked()).blocking();

		assertThatIllegalStateException().isThrownBy(() -> values.get("key"))
			.withRootCauseInstanceOf(LinkageError.class);
		assertThatIllegalStateException().isThrownBy(() -> values.put("key", "value"))
			.withRootCauseInstanceOf(LinkageError.class);
	}

	private static final class Unlinked implements Codec<String> {

		@Override
		public String contentType() {
			return "text/plain";
		}

		@Override
		public byte[] encode(String value) {
			throw new NoClassDefFoundError("Needed");
		}

		@Override
		public String decode(byte[] value, String contentType) {
			throw new NoClassDefFoundError("Needed");
		}

	}

	@Test
	@DisplayName("A hedged read that may not hedge any more still ends, and leaves repeats to others")
	void hedgedTooOften() {
		this.one.thenSilence();
		this.other.thenSilence();
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url(), this.other.url()))
			.maxConnections(1_000)
			.attemptTimeout(Duration.ofMillis(50))
			.maxAttempts(1));
		ReadOptions hedged = ReadOptions.DEFAULTS.hedgeAfter(Duration.ofMillis(1));

		long began = System.nanoTime();
		for (int i = 0; i < 110; i++) {
			assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> texts.get("key", hedged));
		}
		int seconds = (int) Duration.ofNanos(System.nanoTime() - began).toSeconds();
		assertThat(requests())
			.as("110 reads, 100 hedges and one for each second, but those that met their limit before they were sent")
			.isLessThanOrEqualTo(211 + seconds);
	}

	@Test
	@DisplayName("A read is not hedged behind its deadline")
	void hedgedTooLate() {
		this.one.thenSilence();
		this.other.thenSilence();
		BlockingEntities<String> texts = texts(this.one.url(), this.other.url());

		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> texts.get("key",
				ReadOptions.DEFAULTS.hedgeAfter(Duration.ofMillis(600)).deadline(Duration.ofMillis(500))));
		assertThat(requests()).as("none where the first one took long to be sent").isLessThanOrEqualTo(1);
	}

	@Test
	@DisplayName("A read that has failed before it is hedged ends")
	void failedBeforeItIsHedged() {
		this.one.thenBreak();
		this.other.thenBreak();
		BlockingEntities<String> texts = texts(
				KvorumClient.builder(List.of(this.one.url(), this.other.url())).maxAttempts(1));

		assertThatExceptionOfType(NoAnswer.class)
			.isThrownBy(() -> texts.get("key", ReadOptions.DEFAULTS.hedgeAfter(Duration.ofSeconds(5))));
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("A hedged read that is refused for good asks nobody else")
	void hedgedAndDenied() {
		this.one.thenProblem(401, "unauthorized");
		this.other.thenProblem(401, "unauthorized");
		BlockingEntities<String> texts = texts(this.one.url(), this.other.url());

		assertThatExceptionOfType(AccessDenied.class)
			.isThrownBy(() -> texts.get("key", ReadOptions.DEFAULTS.hedgeAfter(Duration.ofSeconds(20))));
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("Observations have the operation and how it ended, and no key")
	void observed() throws InterruptedException {
		this.one.thenValue("v1", "hello").thenBreak();
		List<String> observed = new CopyOnWriteArrayList<>();
		CountDownLatch stopped = new CountDownLatch(4);
		ObservationRegistry observations = ObservationRegistry.create();
		observations.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
			@Override
			public void onStop(Observation.Context context) {
				observed.add(context.getName() + " " + context.getContextualName() + context.getAllKeyValues());
				stopped.countDown();
			}

			@Override
			public boolean supportsContext(Observation.Context context) {
				return true;
			}
		});
		BlockingEntities<String> texts = texts(
				KvorumClient.builder(List.of(this.one.url())).observationRegistry(observations).maxAttempts(1));

		texts.get("secret-session");
		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> texts.put("secret-session", "secret-value"));

		assertThat(stopped.await(30, TimeUnit.SECONDS)).isTrue();
		assertThat(observed).hasSize(4).noneMatch(text -> text.contains("secret"));
		assertThat(observed).filteredOn(text -> text.startsWith("kvorum.client kvorum get"))
			.singleElement()
			.asString()
			.contains("db.system.name", "success");
		assertThat(observed).filteredOn(text -> text.startsWith("kvorum.client kvorum put"))
			.singleElement()
			.asString()
			.contains("unknown");
		assertThat(observed).filteredOn(text -> text.startsWith("http.client.requests"))
			.hasSize(2)
			.allMatch(text -> text.contains(this.one.url() + "/v0/entity"));
	}

	@Test
	@DisplayName("A client that is closed sends nothing")
	void closed() {
		this.one.thenValue("v1", "hello");
		BlockingEntities<String> texts = texts(this.one.url());
		assertThat(texts.get("key")).isPresent();

		this.client.close();
		assertThatIllegalStateException().isThrownBy(() -> texts.get("key")).withMessageContaining("closed");
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("A write without an answer in time may have happened")
	void silent() {
		this.one.thenSilence();
		BlockingEntities<String> texts = texts(
				KvorumClient.builder(List.of(this.one.url())).attemptTimeout(Duration.ofSeconds(1)));

		assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> texts.put("key", "value"))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN))
			.withMessageContaining("no answer in time");
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("A write with an idempotency key is sent again, with the same key, until it is answered")
	void named() {
		this.one.thenBreak().thenProblem(504, "not-enough-replicas", UNKNOWN).thenStored("v1");

		assertThat(texts(this.one.url()).put("key", "value", WriteOptions.DEFAULTS.once()))
			.isEqualTo(new Version("v1"));
		assertThat(this.one.got()).hasSize(3);
		assertThat(this.one.got().stream().map(got -> got.header("Idempotency-Key")).distinct()).hasSize(1)
			.doesNotContain("null");
	}

	@Test
	@DisplayName("Two writes with options of once() have two keys")
	void twoNames() {
		this.one.thenStored("v1");
		BlockingEntities<String> texts = texts(this.one.url());

		texts.put("key", "value", WriteOptions.DEFAULTS.once());
		texts.put("key", "value", WriteOptions.DEFAULTS.once());

		assertThat(this.one.got().stream().map(got -> got.header("Idempotency-Key")).distinct()).hasSize(2);
	}

	@Test
	@DisplayName("What a node has not accepted is sent again")
	void notAccepted() {
		this.one.thenProblem(503, "not-accepted", NOT_APPLIED)
			.thenProblem(503, "contention", NOT_APPLIED)
			.thenProblem(504, "not-enough-replicas", NOT_APPLIED)
			.thenStored("v1");

		assertThat(texts(this.one.url()).put("key", "value")).isEqualTo(new Version("v1"));
		assertThat(this.one.got()).hasSize(4);
	}

	@Test
	@DisplayName("504 with an unknown outcome is not repeated without a name, and is told")
	void unknown() {
		this.one.thenProblem(504, "not-enough-replicas", UNKNOWN, ",\"required\":2,\"acknowledged\":1",
				",\"replicas\":[{\"node\":\"http://b:9090\",\"outcome\":\"timeout\"}]");
		BlockingEntities<String> texts = texts(this.one.url());

		assertThatExceptionOfType(NotEnoughReplicas.class).isThrownBy(() -> texts.put("key", "value")).satisfies(ex -> {
			assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN);
			assertThat(ex.problem()).isEqualTo(new Problem("not-enough-replicas", 504, "as told", Outcome.UNKNOWN, true,
					null, 2, 1, List.of(new Problem.Replica("http://b:9090", "timeout"))));
		});
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("A refusal after a request that may have happened does not make it certain")
	void unknownForGood() {
		this.one.thenBreak().thenProblem(503, "not-accepted", NOT_APPLIED);
		BlockingEntities<String> texts = texts(
				KvorumClient.builder(List.of(this.one.url())).deadline(Duration.ofSeconds(5)).maxAttempts(3));

		assertThatExceptionOfType(Overloaded.class)
			.isThrownBy(() -> texts.put("key", "value", WriteOptions.DEFAULTS.once()))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
		assertThat(this.one.got()).hasSize(3);
	}

	@Test
	@DisplayName("412 of a repeat tells the outcome of the first request by its name only")
	void conditionAfterUnknown() {
		String current = ",\"outcome\":\"not-applied\",\"retryable\":false,\"current\":\"\\\"v7\\\"\"";
		this.one.thenBreak().thenProblem(412, "precondition-failed", current);
		WriteOptions ifSame = WriteOptions.DEFAULTS.ifVersion(new Version("v6"));
		BlockingEntities<String> texts = texts(this.one.url());

		ConditionNotMet named = catchThrowableOfType(ConditionNotMet.class,
				() -> texts.put("key", "value", ifSame.once()));
		assertThat(named.current()).isEqualTo(new Version("v7"));
		assertThat(named.outcome()).isEqualTo(Outcome.NOT_APPLIED);

		this.other.thenBreak().thenProblem(412, "precondition-failed", current);
		BlockingEntities<String> others = texts(this.other.url());
		ConditionNotMet unnamed = catchThrowableOfType(ConditionNotMet.class,
				() -> others.put("key", "value", ifSame.repeatUnknown()));
		assertThat(unnamed.outcome()).isEqualTo(Outcome.UNKNOWN);
		assertThat(this.other.got().get(1).header("If-Match")).isEqualTo("\"v6\"");
	}

	@Test
	@DisplayName("An update that has met the values of others until its deadline may be tried again")
	void contention() {
		Problem changed = new Problem("precondition-failed", 412, "as told", Outcome.NOT_APPLIED, false,
				new Version("v7"), 0, 0, List.of());
		StepVerifier.create(Entities.again(new ConditionNotMet(changed, this.one.url()), System.nanoTime()))
			.expectErrorSatisfies(error -> assertThat(error).isInstanceOfSatisfying(Contention.class, ex -> {
				assertThat(ex.isRetryable()).isTrue();
				assertThat(ex.outcome()).isEqualTo(Outcome.NOT_APPLIED);
			}))
			.verify(Duration.ofSeconds(30));
	}

	@Test
	@DisplayName("An update that cannot tell its own value from that of another client is not tried again")
	void changedPerhapsByItself() {
		Problem unknown = new Problem("precondition-failed", 412, "as told", Outcome.UNKNOWN, false, null, 0, 0,
				List.of());
		StepVerifier
			.create(Entities.again(new ConditionNotMet(unknown, this.one.url()), System.nanoTime() + Long.MAX_VALUE))
			.expectError(ConditionNotMet.class)
			.verify(Duration.ofSeconds(30));
	}

	@Test
	@DisplayName("All requests of an operation have the API key that was given out when it began")
	void oneApiKey() {
		this.one.thenBreak().thenStored("v1");
		AtomicInteger asked = new AtomicInteger();
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url()))
			.deadline(Duration.ofSeconds(5))
			.apiKey(() -> "key-" + asked.incrementAndGet()));

		texts.put("key", "value", WriteOptions.DEFAULTS.once());
		texts.put("key", "value");
		assertThat(this.one.got().stream().map(got -> got.header("Authorization"))).containsExactly("Bearer key-1",
				"Bearer key-1", "Bearer key-2");
	}

	@Test
	@DisplayName("A write that may have happened is not repeated at nodes that do not know its name")
	void namedAndMoved() {
		this.one.thenStored("v1");
		this.other.thenProblem(503, "retired", NOT_APPLIED);
		BlockingEntities<String> texts = texts(this.one.url(), this.other.url());
		while (this.other.got().isEmpty()) {
			texts.put("key", "value");
		}
		this.one.thenBreak();
		texts.put("key", "value");
		int before = this.one.got().size();

		assertThatExceptionOfType(NoAnswer.class)
			.isThrownBy(() -> texts.put("key", "value", WriteOptions.DEFAULTS.once()))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
		assertThat(this.one.got()).hasSize(before + 1);
	}

	@Test
	@DisplayName("What this client cannot send any more does not make a request before it certain")
	void closedMeanwhile() {
		this.one.then(reply -> {
			this.client.close();
			reply.request().withConnection(connection -> connection.dispose());
			return Mono.never();
		});
		BlockingEntities<String> texts = texts(
				KvorumClient.builder(List.of(this.one.url())).deadline(Duration.ofSeconds(5)));

		assertThatExceptionOfType(NoAnswer.class)
			.isThrownBy(() -> texts.put("key", "value", WriteOptions.DEFAULTS.once()))
			.withMessageContaining("this client is closed")
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.UNKNOWN));
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	@DisplayName("A read is repeated whatever went wrong")
	void reads() {
		this.one.thenBreak()
			.thenProblem(504, "not-enough-replicas", UNKNOWN)
			.thenProblem(500, "internal-error")
			.then(reply -> reply.send(502, Map.of(), "Bad gateway"))
			.thenValue("v1", "hello");

		assertThat(texts(this.one.url()).get("key")).map(Entity::value).hasValue("hello");
		assertThat(this.one.got()).hasSize(5);
	}

	@Test
	@DisplayName("404 means that there is no value only if a node of Kvorum says so")
	void absent() {
		this.one.thenAbsent();
		assertThat(texts(this.one.url()).get("key")).isEmpty();
		assertThat(texts(this.one.url()).info("key")).isEmpty();

		this.other.then(reply -> reply.send(404, Map.of("Content-Type", "text/html"), "<h1>Not found</h1>"));
		BlockingEntities<String> behindAProxy = texts(this.other.url());
		assertThatExceptionOfType(UnexpectedAnswer.class).isThrownBy(() -> behindAProxy.get("key"))
			.withMessageContaining("no answer of Kvorum, status 404: <h1>Not found</h1>");
	}

	@Test
	@DisplayName("A wrong API key is not tried again")
	void denied() {
		this.one.thenProblem(401, "unauthorized");
		BlockingEntities<String> texts = texts(KvorumClient.builder(List.of(this.one.url())).apiKey("secret"));

		assertThatExceptionOfType(AccessDenied.class).isThrownBy(() -> texts.get("key"));
		assertThat(this.one.got()).hasSize(1);
		assertThat(this.one.got().get(0).header("Authorization")).isEqualTo("Bearer secret");
	}

	@Test
	@DisplayName("When most requests fail, they are not repeated any more")
	void budget() {
		this.one.thenProblem(503, "not-accepted", NOT_APPLIED);
		BlockingEntities<String> texts = texts(
				KvorumClient.builder(List.of(this.one.url())).maxAttempts(3).deadline(Duration.ofSeconds(5)));

		long began = System.nanoTime();
		for (int i = 0; i < 60; i++) {
			assertThatExceptionOfType(Overloaded.class).isThrownBy(() -> texts.put("key", "value"));
		}

		int seconds = (int) Duration.ofNanos(System.nanoTime() - began).toSeconds();
		assertThat(this.one.got().size()).as("60 operations, 100 repeats and one for each second")
			.isBetween(160, 161 + seconds);
	}

	@Test
	@DisplayName("A hedged read takes the answer that comes first")
	void hedged() {
		this.one.thenSilence();
		this.other.thenValue("v1", "hello");
		BlockingEntities<String> texts = texts(this.one.url(), this.other.url());

		for (int i = 0; i < 10; i++) {
			Optional<Entity<String>> found = texts.get("key",
					ReadOptions.DEFAULTS.hedgeAfter(Duration.ofMillis(20)).deadline(Duration.ofSeconds(2)));
			assertThat(found).map(Entity::value).hasValue("hello");
		}
		assertThat(this.other.got()).hasSize(10);
	}

	@Test
	@DisplayName("A node that does not answer is not asked again at once")
	void rest() {
		this.one.thenBreak();
		this.other.thenValue("v1", "hello");
		BlockingEntities<String> texts = texts(this.one.url(), this.other.url());

		for (int i = 0; i < 100; i++) {
			assertThat(texts.get("key")).map(Entity::value).hasValue("hello");
		}
		assertThat(this.one.got()).as("of 100").hasSizeLessThan(20);
	}

}
