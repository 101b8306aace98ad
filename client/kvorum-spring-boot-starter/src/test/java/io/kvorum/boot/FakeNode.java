package io.kvorum.boot;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

import io.netty.handler.codec.http.HttpHeaders;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerResponse;

/** A node that has no values, or answers each request with the same problem. */
final class FakeNode implements AutoCloseable {

	private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

	private final DisposableServer server;

	private final String scheme;

	private final List<Connection> connections = new CopyOnWriteArrayList<>();

	/** The headers of the requests, in their order. */
	private final List<HttpHeaders> requests = new CopyOnWriteArrayList<>();

	private FakeNode(String scheme, UnaryOperator<HttpServer> change, Answer answer) {
		this.scheme = scheme;
		this.server = change.apply(HttpServer.create())
			.host("127.0.0.1")
			.port(0)
			.doOnConnection(this.connections::add)
			.handle((request, response) -> {
				this.requests.add(request.requestHeaders().copy());
				return answer.send(response);
			})
			.bindNow(START_TIMEOUT);
	}

	/** Sends an answer. */
	@FunctionalInterface
	private interface Answer {

		Mono<Void> send(HttpServerResponse response);

	}

	static FakeNode empty() {
		return new FakeNode("http", UnaryOperator.identity(), FakeNode::nothing);
	}

	static FakeNode empty(String scheme, UnaryOperator<HttpServer> change) {
		return new FakeNode(scheme, change, FakeNode::nothing);
	}

	private static Mono<Void> nothing(HttpServerResponse response) {
		return response.status(404).header("Kvorum-Consistency", "linearizable").send();
	}

	static FakeNode problem(int status, String name) {
		String body = "{\"type\":\"urn:kvorum:problem:%s\",\"detail\":\"a fake problem\"}".formatted(name);
		return new FakeNode("http", UnaryOperator.identity(),
				(response) -> response.status(status)
					.header("Content-Type", "application/problem+json")
					.sendString(Mono.just(body))
					.then());
	}

	static FakeNode silent() {
		return new FakeNode("http", UnaryOperator.identity(), (response) -> Mono.never());
	}

	URI url() {
		return URI.create("%s://localhost:%d".formatted(this.scheme, this.server.port()));
	}

	List<HttpHeaders> requests() {
		return this.requests;
	}

	/** Completes when clients have closed all connections that they had made. */
	Mono<Void> left() {
		return Mono.when(this.connections.stream().map(Connection::onDispose).toList());
	}

	@Override
	public void close() {
		this.server.disposeNow();
	}

}
