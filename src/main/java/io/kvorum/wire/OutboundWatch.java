package io.kvorum.wire;

import java.time.Duration;

import io.netty.channel.ChannelOutboundBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a client has stopped reading: bytes for it are pending, and none has
 * moved since the tick that saw them first.
 */
final class OutboundWatch {

	private @Nullable Object first;

	private long progress;

	private long pending;

	private long since;

	/**
	 * Whether the client has stalled.
	 * @param buffer null if the channel is closed
	 * @param timeout the pause that is allowed
	 * @param now in nanoseconds
	 */
	boolean isStalled(@Nullable ChannelOutboundBuffer buffer, Duration timeout, long now) {
		if (buffer == null || buffer.totalPendingWriteBytes() == 0) {
			this.first = null;
			this.pending = 0;
			return false;
		}
		if (this.pending == 0 || hasMoved(buffer)) {
			this.first = buffer.current();
			this.progress = buffer.currentProgress();
			this.pending = buffer.totalPendingWriteBytes();
			this.since = now;
		}
		return now - this.since >= timeout.toNanos();
	}

	@SuppressWarnings("ReferenceEquality")
	private boolean hasMoved(ChannelOutboundBuffer buffer) {
		return buffer.current() != this.first || buffer.currentProgress() != this.progress
				|| buffer.totalPendingWriteBytes() != this.pending;
	}

}
