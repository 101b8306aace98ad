package io.kvorum.wire;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A request that a {@link WireRoute} answers, and its answer, which is sent as a whole.
 * Lives on the channel's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the promises
final class WireExchange implements HttpExchange {

	private static final Logger logger = LoggerFactory.getLogger(WireExchange.class);

	/** The names of headers are constants, their values may be of clients. */
	private static final HttpHeadersFactory HEADERS = DefaultHttpHeadersFactory.headersFactory()
		.withNameValidation(false);

	private final ChannelHandlerContext context;

	private final WireRouter router;

	private final HttpRequest request;

	private final HttpHeaders headers = HEADERS.newHeaders();

	private HttpResponseStatus status = HttpResponseStatus.OK;

	private @Nullable Runnable beforeCommit;

	private boolean committed;

	/** Whether the route has returned: later the body cannot be asked for. */
	private boolean taken;

	private boolean bodyArrived;

	private boolean sent;

	private @Nullable BodyReading<?> reading;

	private final Outcome outcome = new Outcome();

	WireExchange(ChannelHandlerContext context, WireRouter router, HttpRequest request) {
		this.context = context;
		this.router = router;
		this.request = request;
	}

	@Override
	public String method() {
		return this.request.method().name();
	}

	@Override
	public String scheme() {
		return (this.context.pipeline().get(SslHandler.class) != null) ? "https" : "http";
	}

	/** The target of the request, as it was sent. */
	String target() {
		return this.request.uri();
	}

	@Override
	public @Nullable String rawQuery() {
		String uri = target();
		int mark = uri.indexOf('?');
		return (mark >= 0) ? uri.substring(mark + 1) : null;
	}

	@Override
	public @Nullable String header(CharSequence name) {
		return this.request.headers().get(name);
	}

	@Override
	public List<String> headers(CharSequence name) {
		return this.request.headers().getAll(name);
	}

	@Override
	public @Nullable InetAddress remote() {
		return (this.context.channel().remoteAddress() instanceof InetSocketAddress remote) ? remote.getAddress()
				: null;
	}

	@Override
	public void status(int status) {
		this.status = HttpResponseStatus.valueOf(status);
	}

	@Override
	public int status() {
		return this.status.code();
	}

	@Override
	public void set(CharSequence name, CharSequence value) {
		this.headers.set(name, value);
	}

	@Override
	public void beforeCommit(Runnable task) {
		this.beforeCommit = task;
	}

	@Override
	public boolean isCommitted() {
		return this.committed;
	}

	@Override
	public <T> Mono<T> readBody(Consumer<ByteBuf> part, Supplier<T> whole) {
		return Mono.create(sink -> read(new BodyReading<>(part, whole, sink)));
	}

	private void read(BodyReading<?> reading) {
		if (this.taken || this.reading != null) {
			throw new IllegalStateException("a body is read once, and from its beginning");
		}
		this.reading = reading;
		if (HttpUtil.is100ContinueExpected(this.request)) {
			this.context.writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE,
					Unpooled.EMPTY_BUFFER));
		}
	}

	/** Lets a route answer. */
	void giveTo(WireRoute route) {
		try {
			this.outcome.follow(route.handle(this));
		}
		catch (RuntimeException ex) {
			fail(ex);
		}
		this.taken = true;
	}

	/** The client has gone away. */
	void cancel() {
		this.outcome.cancel();
	}

	/** Takes a part of the body, or its failure. */
	void receive(Object message) {
		try {
			BodyReading<?> reading = this.reading;
			if (message instanceof BodyFailure failure) {
				this.reading = null;
				if (reading != null) {
					reading.fail(failure.cause());
				}
			}
			else if (message instanceof HttpContent content) {
				if (reading != null && !reading.add(content)) {
					this.reading = null;
				}
				if (content instanceof LastHttpContent) {
					this.bodyArrived = true;
					endIfDone();
				}
			}
		}
		finally {
			ReferenceCountUtil.release(message);
		}
	}

	/** Whether the route waits for the rest of the body. */
	boolean isBodyWanted() {
		return this.reading != null;
	}

	@Override
	public Mono<Void> send(byte[] array, int offset, int length) {
		return send(Unpooled.wrappedBuffer(array, offset, length));
	}

	@Override
	public Mono<Void> end() {
		return send(Unpooled.EMPTY_BUFFER);
	}

	private Mono<Void> send(ByteBuf content) {
		return Mono.create(sink -> {
			if (this.beforeCommit != null) {
				this.beforeCommit.run();
			}
			this.committed = true;
			boolean keepAlive = HttpUtil.isKeepAlive(this.request);
			HttpUtil.setKeepAlive(this.headers, this.request.protocolVersion(), keepAlive);
			FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, this.status, content,
					this.headers, EmptyHttpHeaders.INSTANCE);
			this.context.write(response).addListener((future) -> written(future, keepAlive, sink));
			TurnFlush.ofLoop().add(this.context);
		});
	}

	private void written(Future<?> future, boolean keepAlive, MonoSink<Void> sink) {
		if (future.isSuccess() && keepAlive) {
			this.sent = true;
			endIfDone();
		}
		else {
			this.context.close();
		}
		if (future.isSuccess()) {
			sink.success();
		}
		else {
			sink.error(future.cause());
		}
	}

	private void endIfDone() {
		if (this.sent && this.bodyArrived) {
			this.router.ended(this.context);
		}
	}

	/** Closes the connection. Logs all but what the client did to its connection. */
	private void fail(Throwable error) {
		if (!this.committed || !(error instanceof IOException)) {
			logger.error("A request was not answered", error);
		}
		this.context.close();
	}

	/** The end of the handling. */
	private final class Outcome extends BaseSubscriber<Void> {

		void follow(Mono<Void> handling) {
			handling.subscribe(this);
		}

		@Override
		protected void hookOnComplete() {
			if (!WireExchange.this.committed) {
				fail(new IllegalStateException("its handling ended without an answer"));
			}
		}

		@Override
		protected void hookOnError(Throwable error) {
			fail(error);
		}

	}

}
