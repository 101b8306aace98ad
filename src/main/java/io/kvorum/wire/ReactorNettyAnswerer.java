package io.kvorum.wire;

import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;
import reactor.netty.channel.ChannelOperations;

/**
 * reactor-netty, by what it shows of itself. It binds its operations to the channel for
 * the time of a request. When the answer is away it unbinds them
 * ({@code ChannelOperations.terminate}, 1.3.8). Then it fires a user event whose class is
 * not public. So it is through if the channel has no operations.
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
