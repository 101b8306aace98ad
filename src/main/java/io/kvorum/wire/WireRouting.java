package io.kvorum.wire;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import reactor.netty.http.server.HttpServer;

import org.springframework.boot.reactor.netty.NettyServerCustomizer;

/** Puts a {@link WireRoute} on an HTTP server, behind its {@link WireGuard}. */
public final class WireRouting implements NettyServerCustomizer {

	private final WireRoute route;

	public WireRouting(WireRoute route) {
		this.route = route;
	}

	@Override
	public HttpServer apply(HttpServer guarded) {
		return guarded.doOnChannelInit((observer, channel, address) -> install(channel));
	}

	private void install(Channel channel) {
		ChannelPipeline pipeline = channel.pipeline();
		ChannelHandlerContext context = RequestGuard.contextIn(channel);
		if (context == null) {
			return; // One too many: it is closed already.
		}
		RequestGuard guard = (RequestGuard) context.handler();
		WireRouter router = new WireRouter(this.route, guard);
		guard.routeTo(router);
		pipeline.addAfter(context.name(), "kvorum.router", router);
	}

}
