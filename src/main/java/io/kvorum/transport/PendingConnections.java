package io.kvorum.transport;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.ScheduledFuture;

/**
 * Connections to the replica port that are not accepted as a stream yet. Their number and
 * their time are limited, whatever they send.
 */
final class PendingConnections {

	/** Limit, enough for all peers of a large cluster at once; more are closed. */
	static final int MAX = 1024;

	private static final AttributeKey<ScheduledFuture<?>> LIMIT = AttributeKey.valueOf(PendingConnections.class,
			"limit");

	private final Duration patience;

	private final AtomicInteger connections = new AtomicInteger();

	PendingConnections(Duration patience) {
		this.patience = patience;
	}

	/** Counts a new connection and limits its time. */
	void arrived(Channel channel) {
		if (this.connections.incrementAndGet() > MAX) {
			this.connections.decrementAndGet();
			close(channel);
			return;
		}
		channel.attr(LIMIT)
			.set(channel.eventLoop().schedule(() -> close(channel), this.patience.toNanos(), TimeUnit.NANOSECONDS));
		channel.closeFuture().addListener(_ -> forget(channel));
	}

	/** Lets the connection stay, as a stream of a peer. */
	void accepted(Channel channel) {
		forget(channel);
	}

	static void close(Channel channel) {
		var _ = channel.close();
	}

	private void forget(Channel channel) {
		ScheduledFuture<?> limit = channel.attr(LIMIT).getAndSet(null);
		if (limit != null) {
			limit.cancel(false);
			this.connections.decrementAndGet();
		}
	}

}
