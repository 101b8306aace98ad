package io.kvorum.observability;

import java.util.List;
import java.util.Map;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.change.CopyProgress;
import io.kvorum.convergence.change.CopyProgress.OfNode;
import io.kvorum.convergence.change.Step;
import io.kvorum.layout.SteeredLayoutNode;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LayoutGaugesTests {

	private final MeterRegistry meters = new SimpleMeterRegistry();

	private final SteeredLayoutNode node = new SteeredLayoutNode();

	LayoutGaugesTests() {
		new LayoutGauges(this.node).bindTo(this.meters);
	}

	private double gauge(String name) {
		return this.meters.get(name).gauge().value();
	}

	@Test
	void aNodeInNoClusterSaysSo() {
		this.node.outside = "this node is in no cluster yet";

		assertThat(gauge("kvorum.layout.outside")).isEqualTo(1);
		assertThat(gauge("kvorum.layout.number")).isZero();
	}

	@Test
	void withoutAChangeNothingIsToBeCopied() {
		this.node.layout = new Layout(7, Topology.of(List.of("http://a:1"), 1));

		assertThat(gauge("kvorum.layout.outside")).isZero();
		assertThat(gauge("kvorum.layout.number")).isEqualTo(7);
		for (String name : List.of("step", "size", "copied", "remaining")) {
			assertThat(gauge("kvorum.change." + name)).as(name).isZero();
		}
	}

	@Test
	void aChangeIsToldByItsStepAndByWhatIsCopied() {
		this.node.change = new ChangeStatus(Step.CLOSED, List.of(), "");
		this.node.copying = new CopyProgress(1,
				Map.of(1L, new OfNode(Step.CLOSED, 900, 300), 2L, new OfNode(null, 400, 0)), 100);

		assertThat(gauge("kvorum.change.step")).isEqualTo(2);
		this.node.outside = "this node was removed";
		assertThat(gauge("kvorum.change.step")).as("it stays in the last change").isZero();
		assertThat(gauge("kvorum.change.size")).isEqualTo(900);
		assertThat(gauge("kvorum.change.copied")).isEqualTo(300);
		assertThat(gauge("kvorum.change.remaining")).as("of all nodes").isEqualTo(10);

		this.node.copying = new CopyProgress(1, this.node.copying.nodes(), 0);
		assertThat(gauge("kvorum.change.remaining")).as("nothing arrives").isNaN();
	}

}
