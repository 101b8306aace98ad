package io.kvorum.app;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.kvorum.cassandra.RetiredNodes;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Newest;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/**
 * The nodes of a retired cluster, by its HTTP API. Any of them answers; the next one is
 * asked, too, if one does not do so in time.
 */
final class RetiredCluster implements RetiredNodes {

	private static final String TAKEOVER = "Kvorum-Takeover";

	private static final String EXPIRES_AT = "Kvorum-Expires-At";

	private static final String VERSION = "Kvorum-Version";

	private static final String RETIRED = "retired";

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(2);

	/**
	 * The time after which the next node is asked, too: so short that an operation ends
	 * in its time where one node is silent.
	 */
	private static final Duration PATIENCE = Duration.ofMillis(250);

	private static final int VERSION_DIGITS = 32;

	private final List<String> urls;

	private final WebClient client;

	private final int maxAnswerBytes;

	/** The node to begin with. It stays as long as it answers in time. */
	private final AtomicInteger first = new AtomicInteger();

	/**
	 * Creates it.
	 * @param apiKey with the rights to read all, and the metrics; null if none is needed
	 * @param maxAnswerBytes the largest answer, above the largest value
	 */
	RetiredCluster(List<String> urls, @Nullable String apiKey, WebClient.Builder clients, int maxAnswerBytes) {
		this.urls = List.copyOf(urls);
		this.maxAnswerBytes = maxAnswerBytes;
		WebClient.Builder builder = clients.clone()
			.defaultHeader(TAKEOVER, "true")
			.codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(maxAnswerBytes));
		this.client = ((apiKey != null) ? builder.defaultHeader(HttpHeaders.AUTHORIZATION, "Bearer " + apiKey)
				: builder)
			.build();
	}

	@Override
	public Mono<Void> check() {
		return ask(url -> this.client.get().uri(url + "/v0/cluster").retrieve().bodyToMono(JsonNode.class))
			.flatMap(cluster -> {
				String obstacle = obstacle(cluster);
				return (obstacle != null) ? Mono.error(new IllegalStateException(obstacle)) : Mono.empty();
			});
	}

	/**
	 * What is in the way of a takeover, by the view of the cluster; null if nothing is.
	 */
	static @Nullable String obstacle(JsonNode cluster) {
		if (!cluster.path("layout").path("state").asString("").equals("stable")) {
			return "their layout is changing";
		}
		List<String> serving = new ArrayList<>();
		for (JsonNode node : cluster.path("nodes")) {
			if (!node.path("retired").asBoolean(false)) {
				serving.add("%s is %s".formatted(node.path("address").asString("?"),
						node.path("state").asString("?").equals("away") ? "away" : "not retired"));
			}
		}
		if (cluster.path("nodes").isEmpty()) {
			return "they do not say which nodes there are";
		}
		return serving.isEmpty() ? null : String.join(", ", serving);
	}

	@Override
	public Mono<Newest> read(Key key) {
		return ask(url -> this.client.get()
			.uri(url + "/v0/entity?id={id}", new String(key.bytes(), StandardCharsets.UTF_8))
			.exchangeToMono(this::newest));
	}

	private Mono<Newest> newest(ClientResponse response) {
		HttpHeaders headers = response.headers().asHttpHeaders();
		HttpStatus status = HttpStatus.resolve(response.statusCode().value());
		boolean isAnswer = status == HttpStatus.OK || status == HttpStatus.NOT_FOUND;
		if (!isAnswer || !RETIRED.equals(headers.getFirst(TAKEOVER))) {
			return response.releaseBody()
				.then(Mono.error(new IllegalStateException(isAnswer ? "a node that was retired serves clients"
						: "status " + response.statusCode().value())));
		}
		String version = headers.getFirst(VERSION);
		if (status == HttpStatus.NOT_FOUND) {
			return response.releaseBody()
				.then(Mono.justOrEmpty(version).map(deleted -> new Newest(version(deleted), null)));
		}
		String expiresAt = headers.getFirst(EXPIRES_AT);
		return value(response).map(value -> new Newest(version(String.valueOf(version)),
				new Live(version(String.valueOf(headers.getETag())), Copies.DEFAULT,
						(expiresAt != null) ? Long.parseLong(expiresAt) : Live.NEVER,
						String.valueOf(headers.getFirst(HttpHeaders.CONTENT_TYPE)), value)));
	}

	/**
	 * Reads a value by no codec: those parse the content type, and a client may have
	 * given any.
	 */
	private Mono<Value> value(ClientResponse response) {
		return DataBufferUtils.join(response.body(BodyExtractors.toDataBuffers()), this.maxAnswerBytes).map(buffer -> {
			byte[] bytes = new byte[buffer.readableByteCount()];
			buffer.read(bytes);
			DataBufferUtils.release(buffer);
			return Value.of(bytes);
		}).switchIfEmpty(Mono.fromSupplier(() -> Value.of(new byte[0])));
	}

	private static Version version(String etag) {
		String digits = etag.replace("\"", "");
		int middle = VERSION_DIGITS / 2;
		return new Version(HexFormat.fromHexDigitsToLong(digits, 0, middle),
				HexFormat.fromHexDigitsToLong(digits, middle, VERSION_DIGITS));
	}

	/** Asks one node after the other until one answers, and takes what comes first. */
	private <T> Mono<T> ask(Function<String, Mono<T>> call) {
		return Mono.defer(() -> {
			int begin = this.first.get();
			List<Mono<Optional<T>>> calls = new ArrayList<>();
			for (int i = 0; i < this.urls.size(); i++) {
				calls.add(call(call, begin, i));
			}
			return Mono.firstWithValue(calls);
		}).onErrorMap(NoSuchElementException.class, RetiredCluster::lastOf).flatMap(Mono::justOrEmpty);
	}

	private <T> Mono<Optional<T>> call(Function<String, Mono<T>> call, int begin, int passed) {
		int size = this.urls.size();
		int index = (begin + passed) % size;
		String url = this.urls.get(index);
		Mono<Optional<T>> answer = Mono.defer(() -> call.apply(url))
			.timeout(CALL_TIMEOUT)
			.onErrorMap(ex -> new IllegalStateException("%s: %s".formatted(url, ex.getMessage()), ex))
			.singleOptional();
		return (passed == 0) ? answer : Mono.delay(PATIENCE.multipliedBy(passed)).flatMap(_ -> {
			this.first.compareAndSet((index + size - 1) % size, index);
			return answer;
		});
	}

	/** Out of what Reactor makes of the errors of all nodes. */
	private static Throwable lastOf(NoSuchElementException none) {
		Throwable cause = none.getCause();
		return (cause != null) ? Exceptions.unwrapMultiple(cause).getLast() : none;
	}

}
