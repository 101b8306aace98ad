package io.kvorum.wire;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.kvorum.testing.RawHttp;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.internal.ThreadExecutorMap;
import org.reactivestreams.Publisher;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.boot.reactor.netty.SslServerCustomizer;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.util.unit.DataSize;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** A reactor-netty server behind the guard; it remembers what it was asked. */
final class GuardedServer implements AutoCloseable, WireEvents {

	private static final Set<String> STREAMED = Set.of("/endless", "/stream", "/chunks", "/broken-off");

	static final Duration LONG = Duration.ofMinutes(5);

	static final Duration SHORT = Duration.ofMillis(200);

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	/** More bytes than the kernel takes of an answer that is not read. */
	static final int LARGE_BYTES = 16 << 20;

	/** The targets that reached the application. */
	final List<String> served = new CopyOnWriteArrayList<>();

	final List<Object> events = new CopyOnWriteArrayList<>();

	private final Sinks.Many<Object> eventStream = Sinks.many().replay().all();

	private final Sinks.Empty<Void> admitted = Sinks.empty();

	final AtomicLong receivedBytes = new AtomicLong();

	/** {@code /held} is answered when this is. */
	final Sinks.Empty<Void> held = Sinks.empty();

	/** Ends when the handling of {@code /unread} has been cancelled. */
	final Sinks.Empty<Void> cancelled = Sinks.empty();

	private final DisposableServer server;

	private final WireLimits limits;

	GuardedServer(WireLimits limits) {
		this(Answers.BY_REACTOR_NETTY, limits);
	}

	GuardedServer(Answers answers, WireLimits limits) {
		this(answers, limits, new Drain(Duration.ZERO));
	}

	GuardedServer(Answers answers, WireLimits limits, Drain drain) {
		this(answers, limits, drain, (server) -> server);
	}

	/** One that speaks TLS as Spring Boot has it. */
	GuardedServer(Answers answers, WireLimits limits, SslBundle tls) {
		this(answers, limits, new Drain(Duration.ZERO), new SslServerCustomizer(null, null, tls, Map.of()));
	}

	private GuardedServer(Answers answers, WireLimits limits, Drain drain, NettyServerCustomizer transport) {
		this.limits = limits;
		HttpServer plain = transport.apply(HttpServer.create().host("127.0.0.1").port(0));
		// bindNow returns a little before the listeners are called.
		CompletableFuture<DisposableServer> bound = new CompletableFuture<>();
		WireRoute route = (answers == Answers.BY_ROUTE) ? new Route() : WireRoute.NONE;
		this.server = new HttpPort(limits, this).with(route, drain)
			.apply(plain)
			.doOnBound(bound::complete)
			.handle(this::handle)
			.bindNow();
		bound.join();
		drain.start();
	}

	/** Limits that no test meets, but for what it changes. */
	static WireLimits limits(Consumer<Limits> change) {
		Limits limits = new Limits();
		change.accept(limits);
		return new WireLimits(limits.maxConnections, DataSize.ofKilobytes(8), DataSize.ofKilobytes(16),
				limits.maxPipelinedSize, DataSize.ofMegabytes(4), limits.idle, limits.header, limits.bodyStall,
				limits.body, limits.writeStall, limits.streamStall, limits.linger);
	}

	RawHttp connect() {
		return RawHttp.connect(this.server.port());
	}

	RawHttp connect(int receiveBufferBytes) {
		return RawHttp.connect(this.server.port(), receiveBufferBytes);
	}

	/** Waits until the first connection is admitted. */
	void awaitAdmitted() {
		this.admitted.asMono().block(PATIENCE);
	}

	/** Waits until this has happened. */
	void await(Object event) {
		await(event, 1);
	}

	/** Waits until this has happened so many times. */
	void await(Object event, int times) {
		this.eventStream.asFlux().filter(event::equals).take(times).blockLast(PATIENCE);
	}

	private void note(Object event) {
		this.events.add(event);
		this.eventStream.emitNext(event, Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1)));
	}

	@Override
	public void close() {
		this.server.disposeNow();
	}

	@Override
	public void refused(Refusal refusal) {
		note(refusal);
	}

	@Override
	public void timedOut(Timeout timeout) {
		note(timeout);
	}

	@Override
	public void connectionRefused() {
		note("connection refused");
	}

	@Override
	public void connectionOpened() {
		this.admitted.tryEmitEmpty();
	}

	@Override
	public void handshakeFailed() {
		note("handshake failed");
	}

	private Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
		this.served.add(request.uri());
		return switch (request.fullPath()) {
			case "/too-large" -> response.status(413).header("Content-Length", "0").send();
			case "/endless" -> response.send(endless(response));
			case "/stream" -> stream(response, Long.MAX_VALUE, () -> zeros(response));
			case "/chunks" -> stream(response, 1000, () -> chunks("one ", "two ", "three "));
			case "/broken-off" -> brokenOff(response);
			case "/held" -> this.held.asMono().then(Mono.from(response.sendString(Mono.just("held"))));
			case "/unread" -> Mono.never();
			case "/large" -> response.sendByteArray(Mono.just(new byte[LARGE_BYTES]));
			default ->
				bodyLength(request).flatMap((length) -> Mono.from(response.sendString(Mono.just(length.toString()))))
					.onErrorResume(RequestBodyException.TimedOut.class, (ex) -> response.status(408).send())
					.onErrorResume(RequestBodyException.Malformed.class, (ex) -> response.status(400).send());
		};
	}

	private Mono<Long> bodyLength(HttpServerRequest request) {
		return request.receive()
			.map(ByteBuf::readableBytes)
			.doOnNext(this.receivedBytes::addAndGet)
			.reduce(0L, Long::sum);
	}

	/** Answers all that is not streamed. */
	private final class Route implements WireRoute {

		@Override
		public boolean takes(HttpRequest request) {
			return !STREAMED.contains(request.uri());
		}

		@Override
		public Mono<Void> handle(HttpExchange exchange) {
			String uri = ((WireExchange) exchange).target();
			GuardedServer.this.served.add(uri);
			return switch (uri) {
				case "/too-large" -> answer(exchange, 413, "");
				case "/large" -> answer(exchange, 200, " ".repeat(LARGE_BYTES));
				case "/held" -> GuardedServer.this.held.asMono().then(Mono.defer(() -> answer(exchange, 200, "held")));
				case "/unread" -> Mono.<Void>never().doOnCancel(GuardedServer.this.cancelled::tryEmitEmpty);
				case "/unanswered" -> Mono.empty();
				case "/failing" -> Mono.error(new IllegalStateException("as planned"));
				case "/throwing" -> throw new IllegalStateException("as planned");
				case "/read-late" -> Mono.defer(() -> bodyLength(exchange)).then().subscribeOn(later());
				default -> bodyLength(exchange).flatMap(length -> answer(exchange, 200, length.toString()))
					.onErrorResume(RequestBodyException.TimedOut.class, _ -> answer(exchange, 408, ""))
					.onErrorResume(RequestBodyException.Malformed.class, _ -> answer(exchange, 400, ""));
			};
		}

		/** A later turn of this event loop. */
		private static Scheduler later() {
			return Schedulers.fromExecutor(Objects.requireNonNull(ThreadExecutorMap.currentExecutor()));
		}

		private Mono<Long> bodyLength(HttpExchange exchange) {
			AtomicLong length = new AtomicLong();
			return exchange.readBody(part -> {
				length.addAndGet(part.readableBytes());
				GuardedServer.this.receivedBytes.addAndGet(part.readableBytes());
			}, length::get);
		}

		private static Mono<Void> answer(HttpExchange exchange, int status, String body) {
			exchange.status(status);
			exchange.set(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(body.length()));
			byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
			return exchange.send(bytes, 0, bytes.length);
		}

	}

	/** The answerer: the guard has to be as good for both. */
	enum Answers {

		BY_REACTOR_NETTY, BY_ROUTE

	}

	private static Flux<ByteBuf> endless(HttpServerResponse response) {
		return Flux.generate((sink) -> sink.next(zeros(response)));
	}

	private static ByteBuf zeros(HttpServerResponse response) {
		return response.alloc().buffer(65_536).writeZero(65_536);
	}

	/** So many buffers, each made when the connection takes more. */
	private Publisher<Void> stream(HttpServerResponse response, long count, Supplier<ByteBuf> buffers) {
		OutboundGate gate = gateOf(response);
		gate.beginStream(this.limits.streamStallTimeout());
		return response.send(Mono.defer(() -> gate.whenOpen().then(Mono.fromSupplier(buffers))).repeat(count - 1))
			.then()
			.doFinally((_) -> gate.endStream());
	}

	private static Publisher<Void> brokenOff(HttpServerResponse response) {
		return response.send(Flux.concat(Flux.just(chunks("one ", "two ")),
				Mono.<ByteBuf>fromRunnable(gateOf(response)::breakOff).then(Mono.never())));
	}

	private static OutboundGate gateOf(HttpServerResponse response) {
		List<OutboundGate> gates = new CopyOnWriteArrayList<>();
		response.withConnection((connection) -> gates.add(OutboundGate.of(connection.channel())));
		return gates.getFirst();
	}

	private static ByteBuf chunks(String... texts) {
		byte[] bytes = new byte[100];
		int at = 0;
		for (String text : texts) {
			at = Chunks.begin(bytes, at, text.length());
			System.arraycopy(text.getBytes(StandardCharsets.US_ASCII), 0, bytes, at, text.length());
			at = Chunks.end(bytes, at + text.length());
		}
		return new Chunks(bytes, at);
	}

	static final class Limits {

		int maxConnections = 100;

		DataSize maxPipelinedSize = DataSize.ofKilobytes(64);

		Duration idle = LONG;

		Duration header = LONG;

		Duration bodyStall = LONG;

		Duration body = LONG;

		Duration writeStall = LONG;

		Duration streamStall = LONG;

		Duration linger = LONG;

	}

}
