package io.kvorum.wire;

import java.util.concurrent.TimeUnit;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of a connection. It ticks while the connection is open, and looks at what
 * the state counts anyway. No request arms a timer or reads a clock. Lives on the
 * channel's event loop.
 */
final class ConnectionTimer implements Runnable {

	private final ChannelHandlerContext context;

	private final RequestGuard guard;

	private final ConnectionState state;

	private final Patience patience;

	private final OutboundGate gate;

	private final OutboundWatch outbound = new OutboundWatch();

	private final long tickNanos;

	private @Nullable Future<?> next;

	ConnectionTimer(ChannelHandlerContext context, RequestGuard guard, ConnectionState state, OutboundGate gate,
			WireLimits limits) {
		this.context = context;
		this.guard = guard;
		this.state = state;
		this.patience = new Patience(limits, now());
		this.gate = gate;
		this.tickNanos = limits.tick().toNanos();
	}

	void start() {
		this.next = this.context.executor().schedule(this, this.tickNanos, TimeUnit.NANOSECONDS);
	}

	void stop() {
		if (this.next != null) {
			this.next.cancel(false);
		}
	}

	@Override
	public void run() {
		try {
			Timeout met = look();
			if (met != null) {
				this.guard.onTimeout(this.context, met);
			}
		}
		finally {
			// Also after a failure: a connection without its timer has no time limits.
			if (this.context.channel().isOpen()) {
				start();
			}
		}
	}

	private @Nullable Timeout look() {
		Channel channel = this.context.channel();
		long now = now();
		if (this.outbound.isStalled(channel.unsafe().outboundBuffer(), this.gate.stallTimeout(), now)) {
			return Timeout.WRITE_STALL;
		}
		boolean wanted = channel.config().isAutoRead();
		return this.patience.look(this.state.phase(), this.state.requests(), this.state.bodyBytes(), wanted, now);
	}

	private long now() {
		return this.context.executor().ticker().nanoTime();
	}

}
