package io.kvorum.wire;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import reactor.netty.NettyPipeline;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

import org.springframework.boot.reactor.netty.NettyServerCustomizer;

/**
 * Puts the guard on an HTTP server. One instance per server: it counts its connections.
 * <p>
 * reactor-netty's HttpServerCodec is replaced by {@link RequestDecoder} and
 * {@link ResponseEncoder}, and {@link RequestGuard} comes after them. HTTP/1 only: the
 * upgrade to HTTP/2 would lead past all of it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the promises
public final class WireGuard implements NettyServerCustomizer {

	private final WireLimits limits;

	private final WireEvents events;

	public WireGuard(WireLimits limits, WireEvents events) {
		this.limits = limits;
		this.events = events;
	}

	@Override
	public HttpServer apply(HttpServer server) {
		// Of each server its own: a full port of the API leaves the probes theirs.
		ConnectionLimit connections = new ConnectionLimit(this.limits.maxConnections());
		return server.protocol(HttpProtocol.HTTP11)
			.maxKeepAliveRequests(-1)
			.accessLog(false)
			// It would take the prepared chunks of a range for content.
			.compress(false)
			.doOnChannelInit((observer, channel, address) -> install(channel, connections));
	}

	private void install(Channel channel, ConnectionLimit connections) {
		if (!connections.admits(channel)) {
			this.events.connectionRefused();
			channel.close();
			return;
		}
		this.events.connectionOpened();
		channel.closeFuture().addListener((closed) -> this.events.connectionClosed());
		ConnectionState state = new ConnectionState();
		RequestDecoder decoder = new RequestDecoder(state, this.limits);
		ResponseEncoder encoder = new ResponseEncoder();
		ChannelPipeline pipeline = channel.pipeline();
		pipeline.replace(NettyPipeline.HttpCodec, NettyPipeline.HttpCodec, decoder);
		pipeline.addAfter(NettyPipeline.HttpCodec, "kvorum.responseEncoder", encoder);
		OutboundGate gate = new OutboundGate(this.limits.writeStallTimeout());
		pipeline.addAfter("kvorum.responseEncoder", "kvorum.requestGuard",
				new RequestGuard(state, decoder, encoder, gate, this.limits, this.events));
		pipeline.addAfter("kvorum.requestGuard", "kvorum.outboundGate", gate);
	}

}
