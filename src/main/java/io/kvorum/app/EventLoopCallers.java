package io.kvorum.app;

import java.util.concurrent.Executor;

import io.kvorum.storage.CallerThreads;
import io.netty.util.concurrent.FastThreadLocal;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import reactor.netty.http.server.HttpServer;

/**
 * Knows the event loop of the calling thread: learnt when a loop gets a connection, which
 * comes before any request on it. Threads that are alone in their executor are as good.
 */
final class EventLoopCallers implements CallerThreads, NettyServerCustomizer {

	private final FastThreadLocal<Executor> loops = new FastThreadLocal<>() {
		@Override
		protected Executor initialValue() {
			return CallerThreads.NONE.current();
		}
	};

	@Override
	public Executor current() {
		return this.loops.get();
	}

	@Override
	public HttpServer apply(HttpServer server) {
		return server.doOnChannelInit((observer, channel, remote) -> learn(channel.eventLoop()));
	}

	/** The calling thread works for this executor alone. */
	void learn(Executor executor) {
		this.loops.set(executor);
	}

}
