package io.kvorum.wire;

import java.util.concurrent.atomic.AtomicInteger;

import io.netty.channel.Channel;

/** Counts the open connections of a port, on whichever event loops they live. */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the promises
final class ConnectionLimit {

	private final int max;

	private final AtomicInteger open = new AtomicInteger();

	ConnectionLimit(int max) {
		this.max = max;
	}

	/**
	 * Whether there is room for this connection; its place is given back as it closes.
	 */
	boolean admits(Channel channel) {
		boolean admitted = this.open.incrementAndGet() <= this.max;
		channel.closeFuture().addListener((closed) -> this.open.decrementAndGet());
		return admitted;
	}

}
