package io.kvorum.wire;

import java.time.Duration;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollSocketChannel;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Back-pressure by bytes, for answers without a bound: the connection takes more while
 * less than Netty's high-water mark waits for the client. reactor-netty's own demand
 * counts buffers, whatever their size. Lives on the channel's event loop.
 */
public final class OutboundGate extends ChannelInboundHandlerAdapter {

	/** Bytes of a stream that the kernel takes before they are on their way. */
	private static final long UNSENT_BYTES = 32 << 10;

	/** Restores the kernel's own setting. */
	private static final long UNSENT_AS_USUAL = 0;

	private final Duration usualStallTimeout;

	private Duration stallTimeout;

	private @Nullable ChannelHandlerContext context;

	private @Nullable MonoSink<Void> waiting;

	OutboundGate(Duration usualStallTimeout) {
		this.usualStallTimeout = usualStallTimeout;
		this.stallTimeout = usualStallTimeout;
	}

	/** The gate of a connection. */
	public static OutboundGate of(Channel channel) {
		return channel.pipeline().get(OutboundGate.class);
	}

	@Override
	public void handlerAdded(ChannelHandlerContext ctx) {
		this.context = ctx;
	}

	/**
	 * Completes when the connection takes more, in a later turn of the event loop: what
	 * was handed over before has been written by then. One subscriber at a time.
	 */
	public Mono<Void> whenOpen() {
		return Mono.create(sink -> channel().eventLoop().execute(() -> {
			if (channel().isWritable()) {
				sink.success();
			}
			else {
				this.waiting = sink;
			}
		}));
	}

	@Override
	public void channelWritabilityChanged(ChannelHandlerContext ctx) {
		MonoSink<Void> sink = this.waiting;
		if (sink != null && ctx.channel().isWritable()) {
			this.waiting = null;
			sink.success();
		}
		ctx.fireChannelWritabilityChanged();
	}

	/**
	 * Begins an answer without a bound. Little of it waits in the kernel. By default the
	 * kernel takes megabytes at once, and then nothing until a slow client has read a
	 * third of them. Such a client could not be told from one that has stopped reading.
	 * @param timeout the pause after which the client is cut off
	 */
	public void beginStream(Duration timeout) {
		this.stallTimeout = timeout;
		keepUnsent(UNSENT_BYTES);
	}

	/** Ends an answer without a bound: restores the usual settings. */
	public void endStream() {
		this.stallTimeout = this.usualStallTimeout;
		keepUnsent(UNSENT_AS_USUAL);
	}

	private void keepUnsent(long bytes) {
		if (channel() instanceof EpollSocketChannel epoll && epoll.isOpen()) {
			epoll.config().setTcpNotSentLowAt(bytes);
		}
	}

	Duration stallTimeout() {
		return this.stallTimeout;
	}

	/**
	 * Ends the connection in the middle of an answer, behind what was written of it. So
	 * the client does not take the answer for whole.
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // no one waits for the close
	public void breakOff() {
		channel().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
	}

	private Channel channel() {
		ChannelHandlerContext ctx = this.context;
		if (ctx == null) {
			throw new IllegalStateException("not in a pipeline");
		}
		return ctx.channel();
	}

}
