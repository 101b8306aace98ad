package io.kvorum.observability;

import java.util.List;
import java.util.function.Supplier;

import io.kvorum.cassandra.CassandraNode;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;

/**
 * Whether a gateway can use Cassandra. One that cannot is not ready and gets no requests,
 * so no other meter tells. The driver's own do not know of a missing schema.
 */
final class GatewayMeters implements MeterBinder {

	private final Supplier<@Nullable String> absence;

	private final Supplier<List<CassandraNode>> nodes;

	/**
	 * Creates the gauge.
	 * @param absence why Cassandra cannot be used; null if it can
	 * @param nodes those that the driver knows
	 */
	GatewayMeters(Supplier<@Nullable String> absence, Supplier<List<CassandraNode>> nodes) {
		this.absence = absence;
		this.nodes = nodes;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("kvorum.gateway.usable", this, GatewayMeters::usable)
			.description("1 while this gateway is connected to Cassandra and has found its schema")
			.strongReference(true)
			.register(registry);
	}

	private double usable() {
		boolean reachesOne = this.nodes.get().stream().anyMatch(CassandraNode::isReached);
		return (reachesOne && this.absence.get() == null) ? 1 : 0;
	}

}
