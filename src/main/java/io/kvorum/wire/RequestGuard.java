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
 * Stands between the decoder and whoever answers: a {@link WireRouter}, or
 * reactor-netty's HttpTrafficHandler. One per connection. What it refuses it answers
 * itself: the decoder hands out one request at a time, so that all predecessors have been
 * answered. Lives on the channel's event loop; a good request costs it one pass over the
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

	/** Null where nobody says goodbye. */
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

	/** Where its requests go. */
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
	 * A reset is no news: the close that follows tells the application. reactor-netty
	 * would log it as an error where a body has no reader yet. Nor is what comes in the
	 * place of TLS: it is counted.
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

	/** The decoder of HTTP tells what is too long by its messages. */
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

	/** Called by the timer. A body that has failed before is not counted again. */
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
			case BODY_STALL, BODY -> failBody(ctx, new RequestBodyException.TimedOut(timeout));
			case IDLE, WRITE_STALL, LINGER -> ctx.close();
		}
	}

	/**
	 * Lets the application's reading of the body fail, once, so that it can answer. Where
	 * nobody reads it any more, or nobody has answered, the connection is closed.
	 */
	private void failBody(ChannelHandlerContext ctx, RequestBodyException failure) {
		if (this.state.isDiscarding() || !this.answerer.isBodyWanted(ctx.channel())) {
			ctx.close();
			return;
		}
		this.state.discardRest();
		ctx.fireChannelRead(new BodyFailure(failure));
	}

	/**
	 * Whoever answers a request turns reading on again, and does not know what waits
	 * already.
	 */
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

	/** What a client has sent ahead is answered, too, before the port is left. */
	private boolean isLastResponse() {
		Drain drain = this.drain;
		return (this.state.isBodyOutstanding() && !isRestSmall())
				|| (drain != null && drain.isUnderWay() && !this.decoder.holdsBytes());
	}

	/**
	 * Whether what is left of the body is worth reading to keep the connection: no more
	 * than may be sent ahead anyway, and certain to come (a client that expects 100 may
	 * send the body or not).
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
		// Whoever connects and hangs up wanted to know whether the port is open.
				&& !(completion.cause() instanceof ClosedChannelException)) {
			this.events.handshakeFailed();
		}
		if (this.state.isAnswered() && this.answerer.isThrough(ctx.channel())) {
			finished(ctx);
		}
	}

	/** The request is answered, and nobody has anything more to do with it. */
	void finished(ChannelHandlerContext ctx) {
		this.current = null;
		if (this.state.finished(this.decoder.holdsBytes())) {
			close(ctx, ctx.newPromise());
		}
		this.decoder.decodeNext();
	}

	/** A close by reactor-netty or the application; those of the guard are at once. */
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
	 * Closes the connection, when what is under way is answered. An answer that had begun
	 * before could not say so; one that was written before is under way until the network
	 * has taken it.
	 */
	void leave(ChannelHandlerContext ctx) {
		if (this.state.leave(this.decoder.holdsBytes())) {
			close(ctx, ctx.newPromise());
		}
	}

}
