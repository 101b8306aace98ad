package io.kvorum.campaign.node;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Hands on late, and in order, what arrives on a connection. On its event loop. */
final class SlowInbound extends ChannelInboundHandlerAdapter {

	private final FaultFile file;

	private int waiting;

	private long lastDueNanos;

	SlowInbound(FaultFile file) {
		this.file = file;
	}

	@Override
	public void channelRead(ChannelHandlerContext context, Object message) {
		handOn(context, () -> context.fireChannelRead(message));
	}

	@Override
	public void channelReadComplete(ChannelHandlerContext context) {
		handOn(context, context::fireChannelReadComplete);
	}

	@Override
	public void channelInactive(ChannelHandlerContext context) {
		handOn(context, context::fireChannelInactive);
	}

	private void handOn(ChannelHandlerContext context, Runnable event) {
		long delay = TimeUnit.MILLISECONDS.toNanos(delayMillis(context.channel()));
		if (delay == 0 && this.waiting == 0) {
			event.run();
			return;
		}
		long now = System.nanoTime();
		this.lastDueNanos = (this.waiting == 0) ? now + delay : Math.max(this.lastDueNanos, now + delay);
		this.waiting++;
		var _ = context.executor().schedule(() -> {
			this.waiting--;
			event.run();
		}, this.lastDueNanos - now, TimeUnit.NANOSECONDS);
	}

	private long delayMillis(Channel channel) {
		return (channel.remoteAddress() instanceof InetSocketAddress peer && peer.getAddress() != null)
				? this.file.delayMillis(peer.getAddress().getHostAddress()) : 0;
	}

}
