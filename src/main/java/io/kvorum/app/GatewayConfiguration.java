package io.kvorum.app;

import java.net.InetSocketAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Supplier;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import io.kvorum.api.NodeStatus;
import io.kvorum.cassandra.CassandraConnection;
import io.kvorum.cassandra.CassandraNode;
import io.kvorum.cassandra.CassandraRetries;
import io.kvorum.cassandra.CassandraSettings;
import io.kvorum.cassandra.CassandraStore;
import io.kvorum.cassandra.Takeover;
import io.kvorum.cassandra.UnknownContactPointsException;
import io.kvorum.clock.TimeSource;
import io.kvorum.operation.OperationEvents;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.cassandra.autoconfigure.CassandraProperties;
import org.springframework.boot.cassandra.autoconfigure.DriverConfigLoaderBuilderCustomizer;
import org.springframework.boot.info.BuildProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.StringUtils;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

/**
 * Configures a gateway to Cassandra: a node without a store and without peers. The
 * connection is that of {@code spring.cassandra}.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "cassandra")
class GatewayConfiguration {

	private static final String DEFAULT_KEYSPACE = "kvorum";

	private static final String DATACENTER = "spring.cassandra.local-datacenter";

	/** The most memory of values that are taken over at a time. */
	private static final long MAX_ANSWER_BYTES = 65 << 20;

	/** Above the largest value that Cassandra takes, unless it is told otherwise. */
	private static final long LEAST_ANSWER_BYTES = 17 << 20;

	/** The part of the heap for these values, each of which is there some four times. */
	private static final int ANSWERS_PART = 8;

	private static final String TAGGED = "TaggingMetricIdGenerator";

	/** The longest time that a stop waits for the driver. */
	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);

	@Bean
	CassandraSettings cassandraSettings(CassandraProperties cassandra, KvorumProperties properties) {
		if (!StringUtils.hasText(cassandra.getLocalDatacenter())) {
			throw new WrongPropertiesException(List.of(new Violation(DATACENTER, "",
					"must be set with kvorum.engine=cassandra: the data centre whose nodes this gateway asks")));
		}
		String keyspace = cassandra.getKeyspaceName();
		return new CassandraSettings((keyspace != null) ? keyspace : DEFAULT_KEYSPACE,
				properties.replication().readTimeout(), properties.replication().writeTimeout(),
				properties.idempotency().retention());
	}

	/**
	 * Waits for Cassandra instead of failing, and has the driver measure what a gateway
	 * is judged by.
	 */
	@Bean
	DriverConfigLoaderBuilderCustomizer driverDefaults() {
		return driver -> driver.withBoolean(DefaultDriverOption.RECONNECT_ON_INIT, true)
			// A gateway that has just started serves at once.
			.withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(500))
			.withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(5))
			.withBoolean(DefaultDriverOption.TIMESTAMP_GENERATOR_FORCE_JAVA_CLOCK, true)
			.withClass(DefaultDriverOption.RETRY_POLICY_CLASS, CassandraRetries.class)
			.withString(DefaultDriverOption.METRICS_FACTORY_CLASS, "MicrometerMetricsFactory")
			.withString(DefaultDriverOption.METRICS_ID_GENERATOR_CLASS, TAGGED)
			.withString(DefaultDriverOption.METRICS_ID_GENERATOR_PREFIX, "cassandra")
			.withStringList(DefaultDriverOption.METRICS_SESSION_ENABLED,
					List.of("connected-nodes", "cql-requests", "cql-client-timeouts"))
			.withStringList(DefaultDriverOption.METRICS_NODE_ENABLED,
					List.of("pool.open-connections", "pool.in-flight", "errors.request.unsent",
							"errors.request.aborted", "errors.request.write-timeouts", "errors.request.read-timeouts",
							"errors.request.unavailables", "errors.connection.init"));
	}

	@Bean
	CassandraConnection cassandraConnection(ObjectProvider<CqlSessionBuilder> builders, CassandraProperties cassandra,
			CassandraSettings settings, MeterRegistry meters) {
		List<String> contactPoints = cassandra.getContactPoints();
		return new CassandraConnection(() -> {
			requireOneAddress((contactPoints != null) ? contactPoints : List.of());
			// The keyspace may not be there yet.
			return builders.getObject().withKeyspace((CqlIdentifier) null).withMetricRegistry(meters).buildAsync();
		}, settings.keyspace());
	}

	/**
	 * Requires an address for one of the contact points, if there are any. The driver
	 * leaves out for ever what it cannot look up, and asks this machine if nothing is
	 * left.
	 */
	static void requireOneAddress(List<String> contactPoints) {
		if (!contactPoints.isEmpty() && contactPoints.stream().noneMatch(GatewayConfiguration::hasAddress)) {
			throw new UnknownContactPointsException(contactPoints);
		}
	}

	private static boolean hasAddress(String contactPoint) {
		String host = URI.create("cql://" + contactPoint).getHost();
		return host != null && !new InetSocketAddress(host, 0).isUnresolved();
	}

	@Bean
	BackgroundWork cassandraConnecting(CassandraConnection connection) {
		return BackgroundWork.of(BackgroundWork.STORE_OPEN, connection.connect());
	}

	/** Closes the session after the last response. */
	@Bean
	BackgroundWork cassandraClosing(CassandraConnection connection) {
		return BackgroundWork.of(0, Mono.never()
			.doOnCancel(() -> connection.close().timeout(CLOSE_TIMEOUT).onErrorComplete().toFuture().join()));
	}

	@Bean
	CassandraStore cassandraStore(CassandraConnection connection, CassandraSettings settings, TimeSource time,
			EventLoopCallers callers, OperationEvents events, @Nullable Takeover takeover) {
		return new CassandraStore(connection, settings, time, new SecureRandom().nextLong(), callers::current, events,
				takeover);
	}

	@Bean
	@Nullable Takeover takeover(KvorumProperties properties, WebClient.Builder clients, TimeSource time) {
		KvorumProperties.Takeover takeover = properties.takeover();
		return takeover.from().isEmpty() ? null : new Takeover(new RetiredCluster(takeover.from(), takeover.apiKey(),
				clients, answerBytes(Runtime.getRuntime().maxMemory())), time);
	}

	/** The memory of values that are taken over at a time, of a heap. */
	static int answerBytes(long heapBytes) {
		return (int) Math.clamp(heapBytes / ANSWERS_PART, LEAST_ANSWER_BYTES, MAX_ANSWER_BYTES);
	}

	@Bean
	BackgroundWork takeoverBegin(@Nullable Takeover takeover) {
		return BackgroundWork.of(BackgroundWork.STORE_OPEN, (takeover != null) ? takeover.begin() : Mono.empty());
	}

	@Bean
	Supplier<NodeStatus> nodeStatus(CassandraConnection connection, CassandraStore store,
			@Nullable BuildProperties build) {
		return () -> new NodeStatus(HexFormat.of().toHexDigits(store.gateway()), HttpConfiguration.version(build),
				new NodeStatus.Topology(0, "stable",
						connection.nodes().stream().map(CassandraNode::address).sorted().toList(),
						connection.replicas(), null));
	}

}
