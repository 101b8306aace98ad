package io.kvorum.app;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.operation.Newest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerResponse;
import reactor.test.StepVerifier;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

class RetiredClusterTests {

	private static final Key KEY = Key.of("key".getBytes(StandardCharsets.UTF_8));

	private static final int LIMIT = 1024;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static String obstacle(String json) {
		return String.valueOf(RetiredCluster.obstacle(new JsonMapper().readTree(json)));
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';',
			value = { "stable;member;,\"retired\":true;null", "stable;member;'';http://b:1 is not retired",
					"stable;member;,\"retired\":false;http://b:1 is not retired", "stable;away;'';http://b:1 is away",
					"moving;member;,\"retired\":true;their layout is changing" })
	void aTakeoverBeginsWhenEachNodeHasSaidThatItIsRetired(String layout, String state, String retired,
			String expected) {
		assertThat(obstacle("""
				{"layout":{"version":1,"state":"%s","factor":3},"nodes":[
				{"address":"http://a:1","state":"member","retired":true},
				{"address":"http://b:1","state":"%s"%s}]}""".formatted(layout, state, retired))).isEqualTo(expected);
	}

	private static DisposableServer server(AtomicInteger asked, Function<HttpServerResponse, Publisher<Void>> answer) {
		return HttpServer.create().host("127.0.0.1").port(0).handle((_, response) -> {
			asked.incrementAndGet();
			return answer.apply(response);
		}).bindNow();
	}

	private static RetiredCluster cluster(DisposableServer... nodes) {
		return new RetiredCluster(Stream.of(nodes).map(node -> "http://127.0.0.1:" + node.port()).toList(), null,
				WebClient.builder(), LIMIT);
	}

	private static Live live(Newest newest) {
		return Objects.requireNonNull(newest.live());
	}

	private static Mono<Newest> newest(RetiredCluster cluster) {
		return Mono.defer(() -> {
			AtomicReference<@Nullable Newest> found = new AtomicReference<>();
			return cluster.read(KEY, newest -> Mono.fromRunnable(() -> found.set(newest)))
				.then(Mono.fromSupplier(found::get));
		});
	}

	private static Mono<String> read(RetiredCluster cluster) {
		return newest(cluster).map(newest -> new String(live(newest).value().toBytes(), StandardCharsets.UTF_8));
	}

	@Test
	void aSilentNodeIsPassedBy() {
		AtomicInteger ofSilent = new AtomicInteger();
		DisposableServer silent = server(ofSilent, _ -> Mono.never());
		DisposableServer answering = server(new AtomicInteger(),
				response -> response.header("Kvorum-Takeover", "retired")
					.header("ETag", "\"%032x\"".formatted(7))
					.header("Kvorum-Version", "%032x".formatted(8))
					.sendString(Mono.just("value")));
		RetiredCluster cluster = cluster(silent, answering);
		for (int i = 0; i < 20; i++) {
			StepVerifier.create(read(cluster)).expectNext("value").expectComplete().verify(PATIENCE);
		}
		assertThat(ofSilent.get()).isLessThan(20);
		Flux.just(silent, answering).subscribe(DisposableServer::disposeNow);
	}

	@ParameterizedTest
	@ValueSource(strings = { "json", "gzip", "a b", ";", "text/plain; charset=nosuch", "text/plain" })
	void aValueIsReadWhateverItsContentTypeIs(String contentType) {
		DisposableServer node = server(new AtomicInteger(),
				response -> response.header("Kvorum-Takeover", "retired")
					.header("ETag", "\"%032x\"".formatted(7))
					.header("Kvorum-Version", "%032x".formatted(8))
					.header("Content-Type", contentType)
					.sendString(Mono.just("value")));
		StepVerifier.create(newest(cluster(node))).assertNext(newest -> {
			assertThat(newest.version()).isEqualTo(new Version(0, 8));
			Live live = live(newest);
			assertThat(live.identity()).isEqualTo(new Version(0, 7));
			assertThat(live.contentType()).isEqualTo(contentType);
			assertThat(live.value().toBytes()).asString(StandardCharsets.UTF_8).isEqualTo("value");
		}).expectComplete().verify(PATIENCE);
		node.disposeNow();
	}

	@Test
	void aValueMayBeEmptyAndOneAboveTheLimitIsRefused() {
		AtomicInteger bytes = new AtomicInteger();
		DisposableServer node = server(new AtomicInteger(),
				response -> response.header("Kvorum-Takeover", "retired")
					.header("ETag", "\"%032x\"".formatted(7))
					.header("Kvorum-Version", "%032x".formatted(8))
					.sendString(Mono.just("v".repeat(bytes.get()))));
		StepVerifier.create(read(cluster(node))).expectNext("").expectComplete().verify(PATIENCE);
		bytes.set(LIMIT + 1);
		StepVerifier.create(read(cluster(node)))
			.expectErrorSatisfies(error -> assertThat(error).hasMessageContaining("limit"))
			.verify(PATIENCE);
		node.disposeNow();
	}

	private static ByteBuf half() {
		return Unpooled.copiedBuffer("v".repeat(300), StandardCharsets.UTF_8);
	}

	@Test
	void valuesThatAreTakenOverAtTheSameTimeShareTheLimit() {
		Sinks.Empty<Void> gate = Sinks.empty();
		DisposableServer node = server(new AtomicInteger(), response -> response.header("Kvorum-Takeover", "retired")
			.header("ETag", "\"%032x\"".formatted(7))
			.header("Kvorum-Version", "%032x".formatted(8))
			.header("Content-Length", "600")
			.send(Flux.concat(Mono.just(half()), gate.asMono().then(Mono.fromSupplier(RetiredClusterTests::half))),
					_ -> true));
		RetiredCluster cluster = cluster(node);
		List<Mono<String>> reads = List.of(read(cluster), read(cluster));
		StepVerifier.create(Flux.fromIterable(reads).flatMap(read -> read.onErrorResume(error -> {
			gate.tryEmitEmpty();
			return Mono.just(String.valueOf(error.getMessage()));
		})).collectList())
			.assertNext(answers -> assertThat(answers).contains("v".repeat(600))
				.anyMatch(answer -> answer.contains("above the limit of 1024 bytes")))
			.expectComplete()
			.verify(PATIENCE);
		node.disposeNow();
	}

	@Test
	void aValueCountsUntilItIsStored() {
		DisposableServer node = server(new AtomicInteger(),
				response -> response.header("Kvorum-Takeover", "retired")
					.header("ETag", "\"%032x\"".formatted(7))
					.header("Kvorum-Version", "%032x".formatted(8))
					.header("Content-Length", "600")
					.sendString(Mono.just("v".repeat(600))));
		RetiredCluster cluster = cluster(node);
		Sinks.Empty<Void> stored = Sinks.empty();
		Sinks.Empty<Void> found = Sinks.empty();
		Disposable taking = cluster.read(KEY, _ -> {
			found.tryEmitEmpty();
			return stored.asMono();
		}).subscribe();
		found.asMono().block(PATIENCE);
		StepVerifier.create(read(cluster))
			.expectErrorSatisfies(error -> assertThat(error).hasMessageContaining("limit"))
			.verify(PATIENCE);
		stored.tryEmitEmpty();
		StepVerifier.create(read(cluster)).expectNext("v".repeat(600)).expectComplete().verify(PATIENCE);
		assertThat(taking.isDisposed()).isTrue();
		node.disposeNow();
	}

	@Test
	void theVersionOfADeleteIsAnAnswer() {
		DisposableServer node = server(new AtomicInteger(),
				response -> response.status(404)
					.header("Kvorum-Takeover", "retired")
					.header("Kvorum-Version", "%032x".formatted(8))
					.send());
		StepVerifier.create(newest(cluster(node)))
			.expectNext(new Newest(new Version(0, 8), null))
			.expectComplete()
			.verify(PATIENCE);
		node.disposeNow();
	}

	@Test
	void noValueIsAnAnswerAndOfSeveralFailuresTheLastIsTold() {
		DisposableServer without = server(new AtomicInteger(),
				response -> response.status(404).header("Kvorum-Takeover", "retired").send());
		DisposableServer serving = server(new AtomicInteger(),
				response -> response.status(404).header("Kvorum-Consistency", "linearizable").send());
		DisposableServer failing = server(new AtomicInteger(), response -> response.status(500).send());
		StepVerifier.create(read(cluster(failing, without))).expectComplete().verify(PATIENCE);
		for (RetiredCluster cluster : List.of(cluster(failing, serving), cluster(serving, without))) {
			StepVerifier.create(read(cluster))
				.expectErrorSatisfies(
						error -> assertThat(error).hasMessageContainingAll(":" + serving.port(), "serves clients"))
				.verify(PATIENCE);
		}
		StepVerifier.create(read(cluster(failing)))
			.expectErrorSatisfies(error -> assertThat(error).hasMessageContaining("status 500"))
			.verify(PATIENCE);
		Flux.just(without, serving, failing).subscribe(DisposableServer::disposeNow);
	}

	@Test
	void anAnswerWithoutNodesIsNoAnswer() {
		assertThat(obstacle("{\"layout\":{\"state\":\"stable\"},\"nodes\":[]}"))
			.isEqualTo("they do not say which nodes there are");
		assertThat(obstacle("{}")).isEqualTo("they do not say which nodes there are");
	}

}
