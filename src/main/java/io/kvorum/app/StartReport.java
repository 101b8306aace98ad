package io.kvorum.app;

import java.util.Locale;

import io.kvorum.cluster.Topology;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.resources.LoopResources;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;

/**
 * One line when a node is ready: where its data is, how durable, on which ports, with
 * which others; and one more where its replica port trusts a network.
 */
final class StartReport {

	private static final Logger logger = LoggerFactory.getLogger(StartReport.class);

	private final KvorumProperties properties;

	private final Environment environment;

	private final LoopResources loops;

	StartReport(KvorumProperties properties, Environment environment, LoopResources loops) {
		this.properties = properties;
		this.environment = environment;
		this.loops = loops;
	}

	@EventListener
	void ready(ApplicationReadyEvent ready) {
		String port = this.environment.getProperty("local.server.port", "none");
		logger.info("Ready: HTTP on port {}, management on port {}, sockets by {}, data in {}, durability {}, {}", port,
				this.environment.getProperty("local.management.port", port), transport(),
				this.properties.storage().path().toAbsolutePath().normalize(),
				this.properties.storage().durability().name().toLowerCase(Locale.ROOT), cluster());
		warnOfAnOpenPort();
	}

	/** IoUring, Epoll or Nio: what reactor-netty has found. */
	private String transport() {
		EventLoopGroup group = this.loops.onServer(LoopResources.DEFAULT_NATIVE);
		return this.loops.onChannelClass(SocketChannel.class, group).getSimpleName().replace("SocketChannel", "");
	}

	private String cluster() {
		Topology topology = this.properties.topology();
		ReplicaAddress self = this.properties.cluster().address();
		return (self == null) ? "a cluster of one node"
				: "%s of %d nodes, %d replicas of each key".formatted(self, topology.size(), topology.factor());
	}

	private void warnOfAnOpenPort() {
		ReplicaAddress self = this.properties.cluster().address();
		if (self != null && !self.isLoopback() && this.properties.cluster().secret() == null) {
			logger.warn("The replica port {} is open to whoever reaches it: set kvorum.cluster.secret on all nodes, "
					+ "or let nobody else reach it", self.port());
		}
	}

}
