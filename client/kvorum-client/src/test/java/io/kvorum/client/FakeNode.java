package io.kvorum.client;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaders;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.FutureMono;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * A node that answers as it was told to, in that order, and the last way from then on.
 */
final class FakeNode implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final DisposableServer server;

	private final List<Got> got = new CopyOnWriteArrayList<>();

	private final Queue<Function<Reply, Mono<Void>>> replies = new ArrayDeque<>();

	FakeNode() {
		this.server = HttpServer.create().host("127.0.0.1").port(0).handle(this::handle).bindNow(PATIENCE);
	}

	/** What one request was. */
	record Got(String method, String uri, HttpHeaders headers, String body) {

		String header(String name) {
			return String.valueOf(this.headers.get(name));
		}

	}

	/** What one request is answered by. */
	record Reply(Got got, HttpServerRequest request, HttpServerResponse response) {

		Mono<Void> send(int status, Map<String, String> headers, String body) {
			headers.forEach(this.response::header);
			return this.response.status(status)
				.send(Mono.just(Unpooled.copiedBuffer(body, StandardCharsets.UTF_8)))
				.then();
		}

	}

	private synchronized Mono<Void> handle(HttpServerRequest request, HttpServerResponse response) {
		return request.receive().aggregate().asString().defaultIfEmpty("").flatMap(body -> {
			Got received = new Got(request.method().name(), request.uri(), request.requestHeaders(), body);
			this.got.add(received);
			return next().apply(new Reply(received, request, response));
		});
	}

	private synchronized Function<Reply, Mono<Void>> next() {
		Function<Reply, Mono<Void>> reply = (this.replies.size() > 1) ? this.replies.remove() : this.replies.peek();
		if (reply == null) {
			throw new IllegalStateException("this node was not told how to answer");
		}
		return reply;
	}

	synchronized FakeNode then(Function<Reply, Mono<Void>> reply) {
		this.replies.add(reply);
		return this;
	}

	FakeNode thenStored(String version) {
		return then(reply -> reply.send(reply.got().method().equals("PUT") ? 201 : 202,
				Map.of("Kvorum-Consistency", "linearizable", "ETag", "\"" + version + "\""), ""));
	}

	FakeNode thenValue(String version, String value) {
		return then(reply -> reply.send(200, Map.of("Kvorum-Consistency", "linearizable", "ETag", "\"" + version + "\"",
				"Content-Type", "text/plain"), value));
	}

	FakeNode thenAbsent() {
		return then(reply -> reply.send(404, Map.of("Kvorum-Consistency", "linearizable"), ""));
	}

	FakeNode thenProblem(int status, String name, String... more) {
		return then(reply -> reply.send(status, Map.of("Content-Type", "application/problem+json"),
				"{\"type\":\"urn:kvorum:problem:%s\",\"status\":%d,\"detail\":\"as told\"%s}".formatted(name, status,
						String.join("", more))));
	}

	/** Breaks the connection when it has got the request. */
	FakeNode thenBreak() {
		return then(reply -> {
			reply.request().withConnection(connection -> connection.dispose());
			return Mono.never();
		});
	}

	/** Breaks the connection by a reset. */
	FakeNode thenReset() {
		return then(reply -> {
			reply.request().withConnection(connection -> {
				connection.channel().config().setOption(ChannelOption.SO_LINGER, 0);
				connection.dispose();
			});
			return Mono.never();
		});
	}

	/** Sends bytes that may be no HTTP, and leaves the connection open. */
	FakeNode thenBytes(String bytes) {
		return then(reply -> Mono
			.<ChannelHandlerContext>create(sink -> reply.request()
				.withConnection(connection -> sink.success(connection.channel().pipeline().firstContext())))
			.flatMap(context -> FutureMono
				.from(context.writeAndFlush(Unpooled.copiedBuffer(bytes, StandardCharsets.ISO_8859_1))))
			.then(Mono.never()));
	}

	FakeNode thenSilence() {
		return then(reply -> Mono.never());
	}

	/** Answers with lines of a range, and then ends as it should, or breaks. */
	FakeNode thenLines(boolean breaks, String... lines) {
		return then(reply -> reply.response()
			.header("Content-Type", "application/x-ndjson")
			.sendString(Flux.fromArray(lines)
				.map(line -> line + "\n")
				.concatWith(breaks ? Mono.error(new IllegalStateException("breaks as it was told")) : Mono.empty()))
			.then());
	}

	/** Answers with the first lines of a range, and with no more. */
	FakeNode thenLinesAndSilence(String... lines) {
		return then(reply -> reply.response()
			.header("Content-Type", "application/x-ndjson")
			.send(Flux.fromArray(lines)
				.map(line -> Unpooled.copiedBuffer(line + "\n", StandardCharsets.UTF_8))
				.cast(ByteBuf.class)
				.concatWith(Mono.never()), line -> true)
			.then());
	}

	URI url() {
		return URI.create("http://127.0.0.1:" + this.server.port());
	}

	List<Got> got() {
		return Collections.unmodifiableList(this.got);
	}

	@Override
	public void close() {
		this.server.disposeNow(PATIENCE);
	}

}
