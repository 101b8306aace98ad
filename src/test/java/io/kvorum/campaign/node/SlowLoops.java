package io.kvorum.campaign.node;

import java.time.Duration;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/** Event loops all of whose channels, dialled or accepted, are slow as a file says. */
final class SlowLoops implements LoopResources {

	private final LoopResources loops = LoopResources.create("reactor-http");

	private final FaultFile file;

	SlowLoops(FaultFile file) {
		this.file = file;
	}

	@Override
	public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup group) {
		C channel = this.loops.onChannel(type, group);
		channel.pipeline().addFirst((channel instanceof ServerChannel) ? new Accepted() : new SlowInbound(this.file));
		return channel;
	}

	@Override
	public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup group) {
		return this.loops.onChannelClass(type, group);
	}

	@Override
	public EventLoopGroup onClient(boolean useNative) {
		return this.loops.onClient(useNative);
	}

	@Override
	public EventLoopGroup onServer(boolean useNative) {
		return this.loops.onServer(useNative);
	}

	@Override
	public EventLoopGroup onServerSelect(boolean useNative) {
		return this.loops.onServerSelect(useNative);
	}

	@Override
	public boolean daemon() {
		return this.loops.daemon();
	}

	@Override
	public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
		return this.loops.disposeLater(quietPeriod, timeout);
	}

	/** Of a port: each connection that it accepts is slow. */
	private final class Accepted extends ChannelInboundHandlerAdapter {

		@Override
		public void channelRead(ChannelHandlerContext context, Object message) {
			if (message instanceof Channel child) {
				child.pipeline().addFirst(new SlowInbound(SlowLoops.this.file));
			}
			context.fireChannelRead(message);
		}

	}

}
