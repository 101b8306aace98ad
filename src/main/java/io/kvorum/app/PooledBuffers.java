package io.kvorum.app;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import reactor.netty.http.server.HttpServer;

/**
 * Makes connections use Netty's pooled allocator. Netty's default, the adaptive one,
 * costs a tenth of a request more here: see src/docs/performance.md.
 */
final class PooledBuffers implements NettyServerCustomizer {

	@Override
	public HttpServer apply(HttpServer server) {
		return server.childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT);
	}

}
