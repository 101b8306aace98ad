package io.kvorum.observability;

import java.time.Duration;
import java.util.function.ToDoubleFunction;

import io.kvorum.cluster.Layout;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.change.CopyProgress;
import io.kvorum.convergence.change.CopyProgress.OfNode;
import io.kvorum.layout.LayoutNode;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Gauges of the nodes of the cluster and of a change of them, as this node knows it.
 */
final class LayoutGauges implements MeterBinder {

	private static final OfNode NOTHING = new OfNode(null, 0, 0);

	private final LayoutNode node;

	LayoutGauges(LayoutNode node) {
		this.node = node;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		gauge("kvorum.layout.number", LayoutGauges::number)
			.description("Number of the layout that this node works with; 0 for that of the configuration")
			.register(registry);
		gauge("kvorum.layout.outside", it -> (it.node.outside() != null) ? 1 : 0)
			.description("1 while this node is in no cluster: it waits to be added, or was removed")
			.register(registry);
		gauge("kvorum.change.step", LayoutGauges::step)
			.description("Step of a change of the nodes: 0 without one, 1 open, 2 closed, 3 synced, 4 done")
			.register(registry);
		gauge("kvorum.change.size", it -> it.own().bytes())
			.description("Estimate of all that a change of the nodes copies to this node; 0 without a change")
			.baseUnit("bytes")
			.register(registry);
		gauge("kvorum.change.copied", it -> it.own().copiedBytes())
			.description("What a change of the nodes has copied to this node since it began, or since a restart")
			.baseUnit("bytes")
			.register(registry);
		gauge("kvorum.change.remaining", LayoutGauges::remaining)
			.description("Estimate of the time that a change copies data to any node; NaN while nothing arrives")
			.baseUnit("seconds")
			.register(registry);
	}

	private Gauge.Builder<LayoutGauges> gauge(String name, ToDoubleFunction<LayoutGauges> value) {
		return Gauge.builder(name, this, value).strongReference(true);
	}

	private double number() {
		Layout layout = this.node.layout();
		return (layout != null) ? layout.number() : 0;
	}

	private double step() {
		ChangeStatus change = this.node.change();
		// A node that was removed stays in the last change.
		return (change != null && this.node.outside() == null) ? change.step().code() : 0;
	}

	private OfNode own() {
		CopyProgress copying = this.node.copying();
		return (copying != null) ? copying.own() : NOTHING;
	}

	private double remaining() {
		CopyProgress copying = this.node.copying();
		Duration remaining = (copying != null) ? copying.remaining() : Duration.ZERO;
		return (remaining != null) ? remaining.toSeconds() : Double.NaN;
	}

}
