package io.kvorum.wire;

import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;
import reactor.netty.channel.ChannelOperations;

/**
 * reactor-netty, as its HttpTrafficHandler leaves it to be seen. It binds its operations
 * to the channel for the time of a request, unbinds them when the answer is away, and
 * then fires a user event of a class that is not public: without operations it is
 * through.
 */
final class ReactorNettyAnswerer implements Answerer {

	@Override
	public boolean isThrough(Channel channel) {
		return operations(channel) == null;
	}

	@Override
	public boolean isBodyWanted(Channel channel) {
		ChannelOperations<?, ?> operations = operations(channel);
		return operations != null && !operations.isInboundCancelled() && !operations.isInboundDisposed();
	}

	private static @Nullable ChannelOperations<?, ?> operations(Channel channel) {
		return ChannelOperations.get(channel);
	}

}
