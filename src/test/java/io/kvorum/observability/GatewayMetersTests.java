package io.kvorum.observability;

import java.util.List;

import io.kvorum.cassandra.CassandraNode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class GatewayMetersTests {

	@Test
	void aGatewayThatHasNotConnectedIsNotUsable() {
		assertThat(usable("the gateway has not connected to Cassandra yet")).isZero();
	}

	@Test
	void aGatewayWithoutItsSchemaIsNotUsableThoughItIsConnected() {
		assertThat(usable("the keyspace kvorum does not exist", node(2))).isZero();
	}

	@Test
	void aGatewayThatHasLostAllNodesIsNotUsable() {
		assertThat(usable(null, node(0), node(0))).isZero();
	}

	@Test
	void aGatewayThatReachesANodeIsUsable() {
		assertThat(usable(null, node(0), node(1))).isOne();
	}

	private static double usable(@Nullable String absence, CassandraNode... nodes) {
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		new GatewayMeters(() -> absence, () -> List.of(nodes)).bindTo(meters);
		return meters.get("kvorum.gateway.usable").gauge().value();
	}

	private static CassandraNode node(int connections) {
		return new CassandraNode("id", "10.0.0.1:9042", "dc1", "rack1", "5.0.6", connections > 0, connections);
	}

}
