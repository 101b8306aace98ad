package io.kvorum.app;

import java.util.Locale;
import java.util.function.Supplier;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.ReplicaAddress;
import io.kvorum.cluster.Topology;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import reactor.netty.resources.LoopResources;

/**
 * Logs the ports, data, durability and cluster of a ready node in one line. Warns of a
 * replica port that accepts any client.
 */
final class StartReport {

	private static final Logger logger = LoggerFactory.getLogger(StartReport.class);

	private final KvorumProperties properties;

	private final Supplier<Layout> layout;

	private final boolean isSecure;

	private final Environment environment;

	private final LoopResources loops;

	/**
	 * Creates a report.
	 * @param isSecure whether the API port speaks TLS
	 */
	StartReport(KvorumProperties properties, Supplier<Layout> layout, boolean isSecure, Environment environment,
			LoopResources loops) {
		this.properties = properties;
		this.layout = layout;
		this.isSecure = isSecure;
		this.environment = environment;
		this.loops = loops;
	}

	@EventListener
	void ready(ApplicationReadyEvent ready) {
		String port = this.environment.getProperty("local.server.port", "none");
		logger.info(
				"Ready: {} on port {}, management on port {}, sockets by {}, data in {}, durability {}, caches of {} MB for "
						+ "blocks, {} MB of it for memtables, and {} MB for rows, {}",
				this.isSecure ? "HTTPS" : "HTTP", port, this.environment.getProperty("local.management.port", port),
				transport(), this.properties.storage().path().toAbsolutePath().normalize(),
				this.properties.storage().durability().name().toLowerCase(Locale.ROOT),
				this.properties.storage().cacheSize().toMegabytes(),
				this.properties.storage().memtables().toMegabytes(),
				this.properties.storage().rowCacheSize().toMegabytes(), cluster());
		warnOfAnOpenPort();
	}

	/** The transport that reactor-netty has found: IoUring, Epoll or Nio. */
	private String transport() {
		EventLoopGroup group = this.loops.onServer(LoopResources.DEFAULT_NATIVE);
		return this.loops.onChannelClass(SocketChannel.class, group).getSimpleName().replace("SocketChannel", "");
	}

	private String cluster() {
		ReplicaAddress self = this.properties.cluster().address();
		Topology topology = this.layout.get().topology();
		return (self == null) ? "a cluster of one node"
				: "%s%s of %d nodes%s, %d replicas of each key%s".formatted(self,
						(this.properties.cluster().ssl().bundle() != null) ? " (TLS)" : "", topology.size(),
						zones(topology), topology.factor(), topology.isChanging() ? ", in a change of the nodes" : "");
	}

	private static String zones(Topology topology) {
		long zones = topology.members().stream().map(Member::zone).distinct().count();
		return (zones > 1) ? " in %d zones".formatted(zones) : "";
	}

	private void warnOfAnOpenPort() {
		ReplicaAddress self = this.properties.cluster().address();
		boolean isGuarded = this.properties.cluster().secret() != null
				|| this.properties.cluster().ssl().bundle() != null;
		if (self != null && !self.isLoopback() && !isGuarded) {
			logger.warn("The replica port {} accepts any client that reaches it: set kvorum.cluster.ssl.bundle or "
					+ "kvorum.cluster.secret on all nodes, or close its network to others", self.port());
		}
	}

}
