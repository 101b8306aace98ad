package io.kvorum.transport;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

import io.kvorum.transport.Handshake.Opening;
import io.kvorum.transport.Handshake.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * A peer that behaves as a test says. It answers streams of both lanes; what comes on
 * them is handed to the script, with a way to answer.
 */
final class ScriptedPeer implements AutoCloseable {

	/** One stream, as the peer sees it. */
	static final class Stream {

		final String lane;

		private final Sinks.Many<ByteBuf> out = Sinks.many().unicast().onBackpressureBuffer();

		private final Sinks.Empty<Void> broken = Sinks.empty();

		Stream(String lane) {
			this.lane = lane;
		}

		synchronized void send(ReplyFrame frame) {
			ByteBuf buffer = Unpooled.buffer();
			frame.writeHead(buffer);
			this.out.tryEmitNext(buffer.writeBytes(frame.tail())).orThrow();
		}

		synchronized void sendBytes(byte[] bytes) {
			this.out.tryEmitNext(Unpooled.wrappedBuffer(bytes)).orThrow();
		}

		void hello() {
			send(ReplyFrame.of(0, ReplicaProtocol.HELLO));
		}

		void breakOff() {
			this.broken.tryEmitError(new IllegalStateException("planted"));
		}

	}

	/** It knows the secret. */
	static final Handshake HANDSHAKE = TransportNodes.handshake("the secret");

	final List<Stream> streams = new CopyOnWriteArrayList<>();

	final List<HttpHeaders> headers = new CopyOnWriteArrayList<>();

	final AtomicInteger frames = new AtomicInteger();

	private final DisposableServer server;

	private final BiConsumer<Stream, OperationFrame> script;

	/** Of the streams that come: without it they are never open. */
	volatile boolean saysHello;

	/** Of the streams that come. The oldest release, which speaks 4, names none. */
	volatile @Nullable String version;

	ScriptedPeer(String address, boolean saysHello, BiConsumer<Stream, OperationFrame> script) {
		this.script = script;
		this.saysHello = saysHello;
		this.server = HttpServer.create()
			.bindAddress(() -> TransportNodes.socketAddress(address))
			.handle((request, response) -> handle(request, response))
			.bindNow();
	}

	private Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
		if (request.method().equals(HttpMethod.GET)) {
			return response.sendString(Mono.just(HANDSHAKE.challenge()));
		}
		response.header(ReplicaProtocol.PROOF_HEADER,
				HANDSHAKE.proof(Side.CALLED, openingOf(request.requestHeaders())));
		String spoken = this.version;
		if (spoken != null) {
			response.header(ReplicaProtocol.VERSION_HEADER, spoken);
		}
		Stream stream = new Stream(String.valueOf(request.requestHeaders().get(ReplicaProtocol.LANE_HEADER)));
		this.headers.add(request.requestHeaders().copy());
		this.streams.add(stream);
		if (this.saysHello) {
			stream.hello();
		}
		FrameReader<OperationFrame> reader = new FrameReader<>(4 << 20, OperationFrame::read);
		NettyDataBufferFactory buffers = new NettyDataBufferFactory(ByteBufAllocator.DEFAULT);
		// Handled and not ignored: what is ignored would be released once more.
		Flux<ByteBuf> reading = request.receive()
			.<ByteBuf>handle((bytes, _) -> reader.read(buffers.wrap(bytes.retain()), frame -> {
				this.frames.incrementAndGet();
				this.script.accept(stream, frame);
			}))
			.doFinally(_ -> reader.close());
		return response.send(Flux.merge(stream.out.asFlux(), reading).takeUntilOther(stream.broken.asMono()),
				_ -> true);
	}

	/** What a stream was opened with. */
	static Opening openingOf(HttpHeaders headers) {
		return new Opening(headers.get(ReplicaProtocol.CHALLENGE_HEADER, ""),
				headers.get(ReplicaProtocol.NONCE_HEADER, ""), headers.get(ReplicaProtocol.FROM_HEADER, ""),
				headers.get(ReplicaProtocol.TO_HEADER, ""), headers.get(ReplicaProtocol.LANE_HEADER, ""),
				headers.get(ReplicaProtocol.TOPOLOGY_HEADER, ""));
	}

	/** What an honest peer says to a ping. */
	static void pong(Stream stream, OperationFrame frame) {
		if (frame.kind == ReplicaProtocol.PING) {
			stream.send(ReplyFrame.of(frame.correlation, ReplicaProtocol.PONG));
		}
	}

	@Override
	public void close() {
		this.streams.forEach(Stream::breakOff);
		this.server.disposeNow();
	}

}
