package io.kvorum.wire;

import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/**
 * Gives a {@link WireRoute} the requests that it takes, and lets all others through to
 * reactor-netty. One per connection, on its event loop.
 */
final class WireRouter extends ChannelInboundHandlerAdapter implements Answerer {

	private final WireRoute route;

	private final RequestGuard guard;

	/** Answers what the route does not take. */
	private final Answerer others;

	/** Null while the request is not one of the route's. */
	private @Nullable WireExchange current;

	WireRouter(WireRoute route, RequestGuard guard, Answerer others) {
		this.route = route;
		this.guard = guard;
		this.others = others;
	}

	@Override
	public void channelRead(ChannelHandlerContext ctx, Object message) {
		WireExchange exchange = this.current;
		if (exchange != null) {
			exchange.receive(message);
		}
		else if (message instanceof HttpRequest request && this.route.takes(request)) {
			begin(ctx, request);
		}
		else {
			ctx.fireChannelRead(message);
		}
	}

	private void begin(ChannelHandlerContext ctx, HttpRequest request) {
		goOnReading(ctx);
		WireExchange exchange = new WireExchange(ctx, this, request);
		this.current = exchange;
		exchange.giveTo(this.route);
	}

	/** Turns reading on: reactor-netty or the decoder may have turned it off. */
	private static void goOnReading(ChannelHandlerContext ctx) {
		ChannelConfig config = ctx.channel().config();
		if (!config.isAutoRead()) {
			config.setAutoRead(true);
		}
	}

	/** The exchange is through: answered, and its body has arrived. */
	void ended(ChannelHandlerContext ctx) {
		this.current = null;
		this.guard.finished(ctx);
	}

	/** Whether reactor-netty is through; an exchange calls {@link #ended} instead. */
	@Override
	public boolean isThrough(Channel channel) {
		return this.current == null && this.others.isThrough(channel);
	}

	@Override
	public boolean isBodyWanted(Channel channel) {
		WireExchange exchange = this.current;
		return (exchange != null) ? exchange.isBodyWanted() : this.others.isBodyWanted(channel);
	}

	@Override
	public void channelInactive(ChannelHandlerContext ctx) {
		WireExchange exchange = this.current;
		if (exchange != null) {
			this.current = null;
			exchange.cancel();
		}
		ctx.fireChannelInactive();
	}

}
