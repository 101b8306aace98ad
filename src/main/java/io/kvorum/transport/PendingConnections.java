package io.kvorum.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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

	/**
	 * Limit for each remote address, so that one machine cannot keep peers on others out.
	 * A peer opens a stream for each of its processors and one more.
	 */
	static final int MAX_OF_ADDRESS = MAX / 4;

	private static final AttributeKey<Pending> PENDING = AttributeKey.valueOf(PendingConnections.class, "pending");

	private final Duration patience;

	private final AtomicInteger connections = new AtomicInteger();

	private final Map<InetAddress, Integer> ofAddress = new ConcurrentHashMap<>();

	PendingConnections(Duration patience) {
		this.patience = patience;
	}

	/** Counts a new connection and limits its time. */
	void arrived(Channel channel) {
		InetAddress address = addressOf(channel);
		int fromThere = this.ofAddress.merge(address, 1, Integer::sum);
		if (this.connections.incrementAndGet() > MAX || fromThere > MAX_OF_ADDRESS) {
			forget(address);
			close(channel);
			return;
		}
		channel.attr(PENDING)
			.set(new Pending(address,
					channel.eventLoop().schedule(() -> close(channel), this.patience.toNanos(), TimeUnit.NANOSECONDS)));
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
		Pending pending = channel.attr(PENDING).getAndSet(null);
		if (pending != null) {
			pending.limit.cancel(false);
			forget(pending.address);
		}
	}

	private void forget(InetAddress address) {
		this.connections.decrementAndGet();
		this.ofAddress.computeIfPresent(address, (_, count) -> (count > 1) ? count - 1 : null);
	}

	private static InetAddress addressOf(Channel channel) {
		return (channel.remoteAddress() instanceof InetSocketAddress remote && remote.getAddress() != null)
				? remote.getAddress() : InetAddress.getLoopbackAddress();
	}

	private record Pending(InetAddress address, ScheduledFuture<?> limit) {
	}

}
