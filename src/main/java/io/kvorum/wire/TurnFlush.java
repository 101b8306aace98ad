package io.kvorum.wire;

import java.util.ArrayList;
import java.util.List;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.FastThreadLocal;

/**
 * Flushes the answers of one turn of an event loop together, at its end. System calls
 * that follow each other cost less than each between two requests, since both our code
 * and the kernel's stay in the caches of the processor: that is a tenth of a GET.
 * <p>
 * One for each event loop, and only used on it.
 */
final class TurnFlush {

	/**
	 * The most answers that wait for each other. A turn that serves a thousand
	 * connections is long.
	 */
	private static final int MAX_WAITING = 64;

	private static final FastThreadLocal<TurnFlush> OF_LOOP = new FastThreadLocal<>() {
		@Override
		protected TurnFlush initialValue() {
			return new TurnFlush();
		}
	};

	private final List<ChannelHandlerContext> waiting = new ArrayList<>(MAX_WAITING);

	private TurnFlush() {
	}

	/** That of the calling event loop. */
	static TurnFlush ofLoop() {
		return OF_LOOP.get();
	}

	/** Flushes what is written to this connection, soon. */
	void add(ChannelHandlerContext connection) {
		this.waiting.add(connection);
		if (this.waiting.size() == 1) {
			connection.executor().execute(this::flush);
		}
		else if (this.waiting.size() == MAX_WAITING) {
			flush();
		}
	}

	/** A connection may add itself again meanwhile: its next answer waits for a turn. */
	private void flush() {
		List<ChannelHandlerContext> connections = List.copyOf(this.waiting);
		this.waiting.clear();
		connections.forEach(ChannelHandlerContext::flush);
	}

}
