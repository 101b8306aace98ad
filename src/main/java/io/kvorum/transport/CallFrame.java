package io.kvorum.transport;

import java.util.concurrent.TimeUnit;

import io.kvorum.clock.TimeSource;
import io.netty.buffer.ByteBuf;

/**
 * Operation on its way to a peer. Its time limit is what remains until the deadline when
 * it leaves. An operation that was answered while it waited is not sent.
 */
final class CallFrame implements Frame {

	private final int correlation;

	private final PeerCall call;

	private final byte kind;

	private final byte[] entry;

	private final TimeSource time;

	CallFrame(int correlation, PeerCall call, byte kind, byte[] entry, TimeSource time) {
		this.correlation = correlation;
		this.call = call;
		this.kind = kind;
		this.entry = entry;
		this.time = time;
	}

	@Override
	public boolean isWanted() {
		return !this.call.isOver();
	}

	@Override
	public int headBytes() {
		return OperationFrame.headBytes(this.kind, this.call.key);
	}

	@Override
	public void writeHead(ByteBuf out) {
		long micros = TimeUnit.NANOSECONDS.toMicros(this.call.deadlineNanos - this.time.nanos());
		OperationFrame.writeHead(out, this.correlation, this.kind, Math.clamp(micros, 1, Integer.MAX_VALUE),
				this.call.key, this.call.version, this.entry.length);
	}

	@Override
	public byte[] tail() {
		return this.entry;
	}

}
