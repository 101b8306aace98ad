package io.kvorum.wire;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;

import javax.net.ssl.SSLException;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/**
 * Guards one connection, between the decoder and the {@link Answerer}. It answers what it
 * refuses: the decoder hands out one request at a time, so all predecessors have been
 * answered. Lives on the channel's event loop. A good request costs it one pass over the
 * headers and some field writes.
 */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the promises
final class RequestGuard extends ChannelDuplexHandler {

	private final ConnectionState state;

	private final RequestDecoder decoder;

	private final ResponseEncoder encoder;

	private final OutboundGate gate;

	private final WireLimits limits;

	private final WireEvents events;

	/** Null if the port is not drained. */
	private final @Nullable Drain drain;

	private Answerer answerer = new ReactorNettyAnswerer();

	private @Nullable ConnectionTimer timer;

	private @Nullable HttpRequest current;

	RequestGuard(ConnectionState state, RequestDecoder decoder, ResponseEncoder encoder, OutboundGate gate,
			WireLimits limits, WireEvents events, @Nullable Drain drain) {
		this.state = state;
		this.decoder = decoder;
		this.encoder = encoder;
		this.gate = gate;
		this.limits = limits;
		this.events = events;
		this.drain = drain;
	}

	/**
	 * Sets the answerer, which is asked about the requests; at first it is reactor-netty.
	 */
	void handTo(Answerer answerer) {
		this.answerer = answerer;
	}

	@Override
	public void handlerAdded(ChannelHandlerContext ctx) {
		this.timer = new ConnectionTimer(ctx, this, this.state, this.gate, this.limits);
		this.timer.start();
	}

	@Override
	public void handlerRemoved(ChannelHandlerContext ctx) {
		if (this.timer != null) {
			this.timer.stop();
		}
	}

	@Override
	public void channelRead(ChannelHandlerContext ctx, Object msg) {
		if (this.state.isEnded() || !ctx.channel().isActive()) {
			ReferenceCountUtil.release(msg);
		}
		else if (msg instanceof HttpRequest request) {
			onRequest(ctx, request);
		}
		else if (msg instanceof LastHttpContent content && content.decoderResult().isFailure()) {
			ReferenceCountUtil.release(content);
			this.events.refused(Refusal.MALFORMED);
			failBody(ctx, new RequestBodyException.Malformed());
		}
		else {
			ctx.fireChannelRead(msg);
		}
	}

	/**
	 * Closes silently after a reset: the close tells the application, and reactor-netty
	 * would log an error if a body has no reader yet. Bytes that are no TLS end the
	 * connection in the same way; they are counted as failed handshakes.
	 */
	@Override
	public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
		if (cause instanceof IOException || isOfTls(cause)) {
			ctx.close();
		}
		else {
			ctx.fireExceptionCaught(cause);
		}
	}

	/**
	 * Whether an error comes from TLS. {@link TooLongFrameException} does: HTTP that is
	 * too long is reported in the decoder's messages and not thrown.
	 */
	private static boolean isOfTls(Throwable cause) {
		return cause instanceof TooLongFrameException
				|| (cause instanceof DecoderException && cause.getCause() instanceof SSLException);
	}

	private void onRequest(ChannelHandlerContext ctx, HttpRequest request) {
		this.encoder.answer(request.method());
		Refusal refusal = refusalOf(request);
		if (refusal != null) {
			ReferenceCountUtil.release(request);
			this.events.refused(refusal);
			answerAndClose(ctx, refusal);
			return;
		}
		this.current = request;
		ctx.fireChannelRead(request);
	}

	private @Nullable Refusal refusalOf(HttpRequest request) {
		if (request.decoderResult().isFailure()) {
			return switch (request.decoderResult().cause()) {
				case TooLongHttpLineException tooLong -> Refusal.LINE_TOO_LONG;
				case TooLongHttpHeaderException tooLong -> Refusal.HEADERS_TOO_LARGE;
				case TooLongFrameException tooLong -> Refusal.HEADERS_TOO_LARGE;
				default -> Refusal.MALFORMED;
			};
		}
		Refusal hidden = this.decoder.hiddenFlaw();
		return (hidden != null) ? hidden : RequestRules.check(request);
	}

	private void answerAndClose(ChannelHandlerContext ctx, Refusal refusal) {
		this.state.end();
		ctx.writeAndFlush(refusal.response()).addListener((written) -> LingeringClose.begin(ctx, ctx.newPromise()));
	}

	/** Ends what took too long. A body that failed before is not counted again. */
	void onTimeout(ChannelHandlerContext ctx, Timeout timeout) {
		if (this.state.isEnded() || !this.state.isDiscarding()) {
			this.events.timedOut(timeout);
		}
		switch (timeout) {
			case HEADER -> {
				if (this.state.isHeadBegun()) {
					this.encoder.answer(HttpMethod.GET);
					answerAndClose(ctx, Refusal.REQUEST_TIMEOUT);
				}
				else {
					ctx.close();
				}
			}
			case BODY_STALL -> failBody(ctx, new RequestBodyException.TimedOut(true, this.limits.bodyStallTimeout()));
			case BODY -> failBody(ctx, new RequestBodyException.TimedOut(false, this.limits.bodyTimeout()));
			case IDLE, WRITE_STALL, LINGER -> ctx.close();
		}
	}

	/**
	 * Fails the reader of the body, once, so that it can answer. Closes the connection if
	 * the body has no reader any more, or if the reader did not answer the first failure.
	 */
	private void failBody(ChannelHandlerContext ctx, RequestBodyException failure) {
		if (this.state.isDiscarding() || !this.answerer.isBodyWanted(ctx.channel())) {
			// An answer may have been written in this turn.
			ctx.flush();
			ctx.close();
			return;
		}
		this.state.discardRest();
		ctx.fireChannelRead(new BodyFailure(failure));
	}

	/** The answerer turns reading on again, and does not know how much waits already. */
	@Override
	public void read(ChannelHandlerContext ctx) {
		if (this.decoder.holdsEnough()) {
			ctx.channel().config().setAutoRead(false);
		}
		else {
			ctx.read();
		}
	}

	@Override
	public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
		if (msg instanceof HttpResponse response && response.status().codeClass() != HttpStatusClass.INFORMATIONAL) {
			boolean last = isLastResponse();
			this.state.answerBegins(last);
			if (msg instanceof FullHttpResponse) {
				this.state.answerIsWhole();
			}
			if (last) {
				HttpUtil.setKeepAlive(response, false);
			}
		}
		if (msg instanceof LastHttpContent && this.state.answerEnds(this.decoder.holdsBytes())) {
			ctx.write(msg, promise.unvoid()).addListener((written) -> close(ctx, ctx.newPromise()));
		}
		else {
			ctx.write(msg, promise);
		}
	}

	/** Whether to close behind this answer. A drain answers what is held first. */
	private boolean isLastResponse() {
		Drain drain = this.drain;
		return (this.state.isBodyOutstanding() && !isRestSmall())
				|| (drain != null && drain.isUnderWay() && !this.decoder.holdsBytes());
	}

	/**
	 * Whether the rest of the body is worth reading to keep the connection. It must be no
	 * longer than what may be sent ahead anyway, and certain to come. A client that
	 * expects 100 may send the body or not.
	 */
	private boolean isRestSmall() {
		HttpRequest request = this.current;
		if (request == null || this.state.isDiscarding() || request.headers().contains(HttpHeaderNames.EXPECT)) {
			return false;
		}
		long length = HttpUtil.getContentLength(request, Long.MAX_VALUE);
		return length <= this.limits.maxPipelinedSize().toBytes();
	}

	@Override
	public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
		ctx.fireUserEventTriggered(event);
		if (event instanceof SslHandshakeCompletionEvent completion && !completion.isSuccess()
		// A client that connects and hangs up only looks whether the port is open.
				&& !(completion.cause() instanceof ClosedChannelException)) {
			this.events.handshakeFailed();
		}
		if (this.state.isAnswered() && this.answerer.isThrough(ctx.channel())) {
			finished(ctx);
		}
	}

	/** The answer is away, and the answerer is through with the request. */
	void finished(ChannelHandlerContext ctx) {
		this.current = null;
		if (this.state.finished(this.decoder.holdsBytes())) {
			close(ctx, ctx.newPromise());
		}
		this.decoder.decodeNext();
	}

	/** Called by reactor-netty and the application too; a time limit closes at once. */
	@Override
	public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
		if (this.state.close(this.decoder.holdsBytes())) {
			LingeringClose.begin(ctx, promise);
		}
		else {
			ctx.close(promise);
		}
	}

	/**
	 * Closes the connection when what is under way is answered. An answer that has
	 * already begun does not announce the close. A written answer is under way until the
	 * network has taken it.
	 */
	void leave(ChannelHandlerContext ctx) {
		if (this.state.leave(this.decoder.holdsBytes())) {
			close(ctx, ctx.newPromise());
		}
	}

}
