package io.kvorum.app;

import io.kvorum.api.ApiSettings;
import io.kvorum.clock.TimeSource;
import io.kvorum.wire.Drain;
import io.kvorum.wire.HttpPort;
import io.kvorum.wire.WireEvents;
import io.kvorum.wire.WireLimits;
import io.kvorum.wire.WireRoute;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.info.BuildProperties;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Configures the HTTP port, whatever store is behind it. */
@Configuration(proxyBeanMethods = false)
class HttpConfiguration {

	@Bean
	TimeSource timeSource() {
		return TimeSource.SYSTEM;
	}

	@Bean
	EventLoopCallers eventLoopCallers() {
		return new EventLoopCallers();
	}

	/**
	 * Uses Netty's pooled allocator for connections. Netty's default, the adaptive one,
	 * makes a GET about a tenth more expensive: see src/docs/performance.md.
	 */
	@Bean
	NettyServerCustomizer pooledBuffers() {
		return server -> server.childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT);
	}

	/**
	 * The port without route and drain. Each server gets it, that of a management port
	 * too.
	 */
	@Bean
	HttpPort httpPort(KvorumProperties properties, WireEvents events) {
		KvorumProperties.Api api = properties.api();
		WireLimits defaults = WireLimits.defaults();
		return new HttpPort(new WireLimits(api.maxConnections(), defaults.maxInitialLineLength(),
				defaults.maxHeaderSize(), defaults.maxPipelinedSize(), defaults.maxLingerSize(), api.idleTimeout(),
				api.headerTimeout(), api.bodyStallTimeout(), api.bodyTimeout(), api.writeStallTimeout(),
				properties.range().stallTimeout(), defaults.lingerTimeout()), events);
	}

	@Bean
	Drain drain(KvorumProperties properties) {
		return new Drain(properties.api().drainTime());
	}

	/**
	 * Adds the route of entities and the drain to the API port. A management port has no
	 * drain: it still reports that the node is not ready.
	 */
	@Bean
	WebServerFactoryCustomizer<NettyReactiveWebServerFactory> apiPort(HttpPort plain, WireRoute entities, Drain drain) {
		return factory -> {
			factory.getServerCustomizers().remove(plain);
			factory.addServerCustomizers(plain.with(entities, drain));
		};
	}

	@Bean
	ApiSettings apiSettings(KvorumProperties properties) {
		KvorumProperties.Api api = properties.api();
		return new ApiSettings((int) api.maxValueSize().toBytes(), api.maxInFlightSize().toBytes(),
				properties.range().stallTimeout(), api.slowRequestTime(), api.retired(),
				!properties.takeover().from().isEmpty());
	}

	/** The version of the jar; "unknown" in a build by an IDE. */
	static String version(@Nullable BuildProperties build) {
		return (build != null) ? String.valueOf(build.getVersion()) : "unknown";
	}

}
