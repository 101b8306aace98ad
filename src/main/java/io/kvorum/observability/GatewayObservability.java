package io.kvorum.observability;

import io.kvorum.api.ClusterView;
import io.kvorum.cassandra.CassandraConnection;
import io.kvorum.cassandra.CassandraStore;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Configures health and the cluster view of a gateway to Cassandra. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "kvorum.engine", havingValue = "cassandra")
class GatewayObservability {

	@Bean
	ReactiveHealthIndicator storageHealthIndicator(CassandraConnection connection, CassandraStore store) {
		return new GatewayHealth(store::absence, connection.probe());
	}

	@Bean
	ReactiveHealthIndicator clusterHealthIndicator(CassandraConnection connection) {
		return new CassandraHealth(connection::nodes);
	}

	/** Ignores a pending takeover: that wait is planned and must raise no alert. */
	@Bean
	GatewayMeters gatewayMeters(CassandraConnection connection) {
		return new GatewayMeters(connection::absence, connection::nodes);
	}

	/** Cassandra repairs its replicas itself; a gateway has nothing to wait for. */
	@Bean
	ReactiveHealthIndicator convergenceHealthIndicator() {
		return () -> Mono.just(Health.up().build());
	}

	@Bean
	ClusterView clusterView(CassandraConnection connection, RequestRate requests) {
		return new CassandraView(connection, requests);
	}

}
