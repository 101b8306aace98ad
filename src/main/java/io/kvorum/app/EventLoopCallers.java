package io.kvorum.app;

import java.util.concurrent.Executor;

import io.kvorum.storage.CallerThreads;
import io.netty.util.concurrent.FastThreadLocal;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import reactor.netty.http.server.HttpServer;

/**
 * Finds the event loop of the calling thread. A loop is recorded when it gets a
 * connection, before any request on it. Other executors with only one thread can be
 * recorded too.
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

	/** Records the executor whose only thread is the calling thread. */
	void learn(Executor executor) {
		this.loops.set(executor);
	}

}
