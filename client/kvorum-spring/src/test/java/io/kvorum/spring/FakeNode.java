package io.kvorum.spring;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

import io.kvorum.client.KvorumClient;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpMethod;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * A node that holds values in memory, with conditions. Faults answer the next requests
 * instead, one each.
 */
public final class FakeNode implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final String KEY = "/v0/entity?id=";

	private final DisposableServer server;

	private final Map<String, Stored> values = new TreeMap<>();

	private final Queue<Function<Exchange, Mono<Void>>> faults = new ArrayDeque<>();

	private Function<Exchange, Mono<Void>> usual = Exchange::answer;

	private final List<String> requests = new CopyOnWriteArrayList<>();

	private int writes;

	/** A node on a free port. */
	public FakeNode() {
		this.server = HttpServer.create().host("127.0.0.1").port(0).handle(this::handle).bindNow(PATIENCE);
	}

	private record Stored(String etag, String contentType, String value) {
	}

	private record Answer(int status, Map<String, String> headers, String body) {
	}

	/** A request that was received. */
	public final class Exchange {

		private final HttpServerRequest request;

		private final HttpServerResponse response;

		private final String body;

		private Exchange(HttpServerRequest request, HttpServerResponse response, String body) {
			this.request = request;
			this.response = response;
			this.body = body;
		}

		/**
		 * Does what the request asks for, and says so.
		 * @return completes when it is sent
		 */
		public Mono<Void> answer() {
			return send(apply(this));
		}

		/**
		 * Does what the request asks for, and breaks the connection.
		 * @return never completes
		 */
		public Mono<Void> loseAnswer() {
			apply(this);
			return breakConnection();
		}

		/**
		 * Does nothing, and breaks the connection.
		 * @return never completes
		 */
		public Mono<Void> breakConnection() {
			this.request.withConnection(connection -> connection.dispose());
			return Mono.never();
		}

		/**
		 * Does nothing, and says that.
		 * @return completes when it is sent
		 */
		public Mono<Void> refuse() {
			return send(problem(503, "not-accepted", "\"outcome\":\"not-applied\""));
		}

		/**
		 * Does nothing, and says that another write came first.
		 * @return completes when it is sent
		 */
		public Mono<Void> conflict() {
			return send(problem(412, "precondition-failed", "\"current\":\"\\\"another\\\"\""));
		}

		/**
		 * Does nothing, and says that the keys have moved to other nodes.
		 * @return completes when it is sent
		 */
		public Mono<Void> retired() {
			return send(problem(503, "retired", "\"outcome\":\"not-applied\",\"retryable\":true"));
		}

		/**
		 * What is asked.
		 * @return the method and the key
		 */
		public String name() {
			return this.request.method().name() + ' ' + key();
		}

		private Mono<Void> send(Answer answer) {
			answer.headers().forEach(this.response::header);
			return this.response.status(answer.status())
				.send(Mono.just(Unpooled.copiedBuffer(answer.body(), StandardCharsets.ISO_8859_1)))
				.then();
		}

		private String key() {
			String id = this.request.uri().substring(KEY.length()).split("&", -1)[0];
			return URLDecoder.decode(id, StandardCharsets.UTF_8);
		}

	}

	private Mono<Void> handle(HttpServerRequest request, HttpServerResponse response) {
		return request.receive().aggregate().asByteArray().defaultIfEmpty(new byte[0]).flatMap(bytes -> {
			Exchange exchange = new Exchange(request, response, new String(bytes, StandardCharsets.ISO_8859_1));
			this.requests.add(exchange.name());
			return fault().apply(exchange);
		});
	}

	private synchronized Function<Exchange, Mono<Void>> fault() {
		Function<Exchange, Mono<Void>> fault = this.faults.poll();
		return (fault != null) ? fault : this.usual;
	}

	private synchronized Answer apply(Exchange exchange) {
		String key = exchange.key();
		Stored found = this.values.get(key);
		if (exchange.request.method().equals(HttpMethod.GET)) {
			return (found == null) ? new Answer(404, Map.of("Kvorum-Consistency", "linearizable"), "")
					: new Answer(200, Map.of("Kvorum-Consistency", "linearizable", "ETag", found.etag(), "Content-Type",
							found.contentType()), found.value());
		}
		if (!isMet(exchange.request, found)) {
			return problem(412, "precondition-failed",
					"\"current\":" + ((found != null) ? "\"\\\"%s\\\"\"".formatted(unquoted(found)) : "null"));
		}
		String etag = "\"v%05d\"".formatted(++this.writes);
		if (exchange.request.method().equals(HttpMethod.PUT)) {
			this.values.put(key,
					new Stored(etag, exchange.request.requestHeaders().get("Content-Type"), exchange.body));
			return new Answer(201, Map.of("Kvorum-Consistency", "linearizable", "ETag", etag), "");
		}
		this.values.remove(key);
		return new Answer(202, Map.of("Kvorum-Consistency", "linearizable", "ETag", etag), "");
	}

	private static String unquoted(Stored stored) {
		return stored.etag().replace("\"", "");
	}

	private static boolean isMet(HttpServerRequest request, @Nullable Stored found) {
		String match = request.requestHeaders().get("If-Match");
		String noneMatch = request.requestHeaders().get("If-None-Match");
		boolean isFound = found != null && (match == null || match.equals("*") || match.equals(found.etag()));
		return (noneMatch != null) ? found == null : match == null || isFound;
	}

	private static Answer problem(int status, String name, String more) {
		return new Answer(status, Map.of("Content-Type", "application/problem+json"),
				"{\"type\":\"urn:kvorum:problem:%s\",\"status\":%d,\"detail\":\"as told\",%s}".formatted(name, status,
						more));
	}

	/**
	 * The next request that has no fault yet is answered in another way.
	 * @param fault how
	 */
	public synchronized void next(Function<Exchange, Mono<Void>> fault) {
		this.faults.add(fault);
	}

	/**
	 * All requests that have no fault yet are answered in another way.
	 * @param fault how
	 */
	public synchronized void always(Function<Exchange, Mono<Void>> fault) {
		this.usual = fault;
	}

	/**
	 * What was asked so far.
	 * @return the method and the key of each request
	 */
	public List<String> requests() {
		return List.copyOf(this.requests);
	}

	/**
	 * A client of this node that repeats nothing.
	 * @return a builder
	 */
	public KvorumClient.Builder client() {
		return KvorumClient.builder("http://127.0.0.1:" + this.server.port()).maxAttempts(1);
	}

	@Override
	public void close() {
		this.server.disposeNow(PATIENCE);
	}

}
