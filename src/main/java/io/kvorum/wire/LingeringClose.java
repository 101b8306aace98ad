package io.kvorum.wire;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;

/**
 * Ends a connection whose client may still be sending (RFC 9112, 9.6). Closing a socket
 * with unread bytes resets it, and a reset takes the response from a client that has not
 * read it yet. So only the sending side is closed, with TLS by {@code close_notify}. The
 * decoder throws away what arrives until the client closes too, or a bound is met. The
 * decoder checks {@link WireLimits#maxLingerSize()}, the timer
 * {@link WireLimits#lingerTimeout()}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the promises
final class LingeringClose {

	private LingeringClose() {
	}

	/**
	 * Begins, on the event loop, after the response was written. A second call does
	 * nothing.
	 * @param promise done when the channel is closed
	 */
	static void begin(ChannelHandlerContext ctx, ChannelPromise promise) {
		Channel channel = ctx.channel();
		channel.closeFuture().addListener((closed) -> promise.trySuccess());
		if (!channel.isActive()) {
			return;
		}
		SslHandler tls = ctx.pipeline().get(SslHandler.class);
		if (tls != null) {
			tls.closeOutbound();
		}
		else if (channel instanceof DuplexChannel duplex && !duplex.isOutputShutdown()) {
			duplex.shutdownOutput();
		}
		channel.config().setAutoRead(true);
		ctx.read();
	}

}
