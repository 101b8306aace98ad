package io.kvorum.app;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import io.kvorum.cassandra.RetiredNodes;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Newest;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
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

	/** What each node says that serves clients. */
	private static final String CONSISTENCY = "Kvorum-Consistency";

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(2);

	/**
	 * The time after which the next node is asked, too: so short that an operation ends
	 * in its time where one node is silent.
	 */
	private static final Duration PATIENCE = Duration.ofMillis(250);

	private static final int VERSION_DIGITS = 32;

	private static final int FIRST_BYTES = 16 << 10;

	private final List<String> urls;

	private final WebClient client;

	private final int maxAnswerBytes;

	/** The bytes of values that are being taken over. */
	private final AtomicLong inFlight = new AtomicLong();

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
		if (cluster.path("nodes").isEmpty()) {
			return "they do not say which nodes there are";
		}
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
		return serving.isEmpty() ? null : String.join(", ", serving);
	}

	@Override
	public Mono<Void> read(Key key, Function<Newest, Mono<Void>> use) {
		return Mono.using(Room::new,
				room -> ask(url -> this.client.get()
					.uri(url + "/v0/entity?id={id}", new String(key.bytes(), StandardCharsets.UTF_8))
					.exchangeToMono(response -> newest(response, room))).flatMap(use),
				Room::release);
	}

	private Mono<Newest> newest(ClientResponse response, Room room) {
		HttpHeaders headers = response.headers().asHttpHeaders();
		HttpStatus status = HttpStatus.resolve(response.statusCode().value());
		boolean isAnswer = status == HttpStatus.OK || status == HttpStatus.NOT_FOUND;
		if (!isAnswer || !RETIRED.equals(headers.getFirst(TAKEOVER))) {
			boolean serves = isAnswer && headers.getFirst(CONSISTENCY) != null;
			return response.releaseBody()
				.then(Mono.error(serves ? new ServesClientsException()
						: new IllegalStateException("status " + response.statusCode().value())));
		}
		String version = headers.getFirst(VERSION);
		if (status == HttpStatus.NOT_FOUND) {
			return response.releaseBody()
				.then(Mono.justOrEmpty(version).map(deleted -> new Newest(version(deleted), null)));
		}
		String expiresAt = headers.getFirst(EXPIRES_AT);
		return value(response, room).map(value -> new Newest(version(String.valueOf(version)),
				new Live(version(String.valueOf(headers.getETag())), Copies.DEFAULT,
						(expiresAt != null) ? Long.parseLong(expiresAt) : Live.NEVER,
						String.valueOf(headers.getFirst(HttpHeaders.CONTENT_TYPE)), value)));
	}

	/**
	 * Reads a value by no codec: those parse the content type, and a client may have
	 * given any. Values that are taken over at the same time share a limit.
	 */
	private Mono<Value> value(ClientResponse response, Room room) {
		long length = response.headers().contentLength().orElse(this.maxAnswerBytes);
		Flux<DataBuffer> body = response.body(BodyExtractors.toDataBuffers());
		if (!room.tryReserve(length)) {
			// Ends the connection: else all of it would be read, and thrown away.
			return body.next()
				.doOnNext(DataBufferUtils::release)
				.then(Mono.error(() -> new IllegalStateException(
						"the values that are taken over at the moment are above the limit of %d bytes, with one of %d"
							.formatted(this.maxAnswerBytes, length))));
		}
		return body.collect(() -> new ByteArrayOutputStream((int) Math.min(length, FIRST_BYTES)), this::add)
			.map(bytes -> Value.of(bytes.toByteArray()));
	}

	private void add(ByteArrayOutputStream bytes, DataBuffer buffer) {
		byte[] part = new byte[buffer.readableByteCount()];
		buffer.read(part);
		DataBufferUtils.release(buffer);
		if (bytes.size() + part.length > this.maxAnswerBytes) {
			throw new IllegalStateException("a value is above the limit of %d bytes".formatted(this.maxAnswerBytes));
		}
		bytes.writeBytes(part);
	}

	private static Version version(String etag) {
		String digits = etag.replace("\"", "");
		int middle = VERSION_DIGITS / 2;
		return new Version(HexFormat.fromHexDigitsToLong(digits, 0, middle),
				HexFormat.fromHexDigitsToLong(digits, middle, VERSION_DIGITS));
	}

	/**
	 * Asks one node after the other until one answers, and takes what comes first. One
	 * that serves clients again ends it: the others do not know what it has acknowledged.
	 */
	private <T> Mono<T> ask(Function<String, Mono<T>> call) {
		return Mono.defer(() -> {
			int begin = this.first.get();
			List<Mono<Mono<T>>> calls = new ArrayList<>();
			for (int i = 0; i < this.urls.size(); i++) {
				calls.add(call(call, begin, i));
			}
			return Mono.firstWithValue(calls);
		}).onErrorMap(NoSuchElementException.class, RetiredCluster::lastOf).flatMap(answer -> answer);
	}

	private <T> Mono<Mono<T>> call(Function<String, Mono<T>> call, int begin, int passed) {
		int size = this.urls.size();
		int index = (begin + passed) % size;
		String url = this.urls.get(index);
		Mono<Mono<T>> answer = Mono.defer(() -> call.apply(url))
			.timeout(CALL_TIMEOUT)
			.onErrorMap(TimeoutException.class,
					_ -> new IllegalStateException("no answer within %d ms".formatted(CALL_TIMEOUT.toMillis())))
			.singleOptional()
			.map(Mono::justOrEmpty)
			.onErrorResume(ServesClientsException.class, ex -> Mono.just(Mono.error(named(url, ex))))
			.onErrorMap(ex -> named(url, ex));
		return (passed == 0) ? answer : Mono.delay(PATIENCE.multipliedBy(passed)).flatMap(_ -> {
			this.first.compareAndSet((index + size - 1) % size, index);
			return answer;
		});
	}

	private static IllegalStateException named(String url, Throwable ex) {
		return new IllegalStateException("%s: %s".formatted(url, ex.getMessage()), ex);
	}

	/** Out of what Reactor makes of the errors of all nodes. */
	private static Throwable lastOf(NoSuchElementException none) {
		Throwable cause = none.getCause();
		return (cause != null) ? Exceptions.unwrapMultiple(cause).getLast() : none;
	}

	/**
	 * The memory of one takeover, of the answers of all nodes that are asked. One of them
	 * may come when it is over.
	 */
	private final class Room {

		private long reserved;

		private boolean isOver;

		private synchronized boolean tryReserve(long bytes) {
			if (this.isOver) {
				return false;
			}
			this.reserved += bytes;
			if (RetiredCluster.this.inFlight.addAndGet(bytes) <= RetiredCluster.this.maxAnswerBytes) {
				return true;
			}
			this.reserved -= bytes;
			RetiredCluster.this.inFlight.addAndGet(-bytes);
			return false;
		}

		private synchronized void release() {
			RetiredCluster.this.inFlight.addAndGet(-this.reserved);
			this.isOver = true;
		}

	}

	/** A node acknowledges what this gateway will not see. */
	private static final class ServesClientsException extends IllegalStateException {

		private static final long serialVersionUID = 1L;

		ServesClientsException() {
			super("a node that was retired serves clients: start it with kvorum.api.retired=true");
		}

	}

}
