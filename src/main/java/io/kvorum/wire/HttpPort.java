package io.kvorum.wire;

import java.util.concurrent.atomic.AtomicInteger;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

/**
 * Makes the HTTP port of a server: installs on each connection the handlers that a
 * request passes. HTTP/1 only: the upgrade to HTTP/2 would lead past all of them.
 */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the promises
public final class HttpPort implements NettyServerCustomizer {

	private final WireLimits limits;

	private final WireEvents events;

	private final WireRoute route;

	private final @Nullable Drain drain;

	/** A port whose requests are all reactor-netty's. */
	public HttpPort(WireLimits limits, WireEvents events) {
		this(limits, events, WireRoute.NONE, null);
	}

	private HttpPort(WireLimits limits, WireEvents events, WireRoute route, @Nullable Drain drain) {
		this.limits = limits;
		this.events = events;
		this.route = route;
		this.drain = drain;
	}

	/** The same port with a route before reactor-netty, and a drain. */
	public HttpPort with(WireRoute route, Drain drain) {
		return new HttpPort(this.limits, this.events, route, drain);
	}

	@Override
	public HttpServer apply(HttpServer server) {
		// Each server counts its own connections, so a full port of the API leaves room
		// for the probes.
		AtomicInteger open = new AtomicInteger();
		HeldBytes held = new HeldBytes(HeldBytes.MAX_BYTES);
		HttpServer port = server.protocol(HttpProtocol.HTTP11)
			.maxKeepAliveRequests(-1)
			.accessLog(false)
			// Compression would take prepared chunks for content.
			.compress(false)
			.doOnChannelInit((observer, channel, address) -> accept(channel, open, held));
		return (this.drain != null) ? port.doOnBound(this.drain::bound) : port;
	}

	private void accept(Channel channel, AtomicInteger open, HeldBytes held) {
		channel.closeFuture().addListener((closed) -> open.decrementAndGet());
		if (open.incrementAndGet() > this.limits.maxConnections()) {
			this.events.connectionRefused();
			channel.close();
			return;
		}
		this.events.connectionOpened();
		channel.closeFuture().addListener((closed) -> this.events.connectionClosed());
		install(channel.pipeline(), held);
	}

	/** All before reactor-netty's HttpTrafficHandler, in the order of a request. */
	private void install(ChannelPipeline pipeline, HeldBytes held) {
		ConnectionState state = new ConnectionState();
		RequestDecoder decoder = new RequestDecoder(state, this.limits, held);
		ResponseEncoder encoder = new ResponseEncoder();
		OutboundGate gate = new OutboundGate(this.limits.writeStallTimeout());
		RequestGuard guard = new RequestGuard(state, decoder, encoder, gate, this.limits, this.events, this.drain);
		WireRouter router = new WireRouter(this.route, guard, new ReactorNettyAnswerer());
		guard.handTo(router);
		pipeline.replace(NettyPipeline.HttpCodec, NettyPipeline.HttpCodec, decoder);
		pipeline.addBefore(NettyPipeline.HttpTrafficHandler, "kvorum.responseEncoder", encoder);
		pipeline.addBefore(NettyPipeline.HttpTrafficHandler, "kvorum.requestGuard", guard);
		pipeline.addBefore(NettyPipeline.HttpTrafficHandler, "kvorum.router", router);
		pipeline.addBefore(NettyPipeline.HttpTrafficHandler, "kvorum.outboundGate", gate);
		if (this.drain != null) {
			this.drain.watch(pipeline.context(guard));
		}
	}

}
