package io.kvorum.observability;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.Convergence;
import io.kvorum.coordination.Inspection;
import io.kvorum.testing.Now;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.MapAssert;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TopologyEndpointTests {

	private static final String FIRST = "http://10.0.0.1:9081";

	private static final String SECOND = "http://10.0.0.2:9081";

	@Test
	void zonesAndWeightsOfAllNodesAreShown() {
		assertThatBody(member(FIRST, "a", 1), member(SECOND, "b", 2))
			.containsEntry("zones", Map.of(FIRST, "a", SECOND, "b"))
			.containsEntry("weights", Map.of(FIRST, 1, SECOND, 2));
	}

	@Test
	void withoutZonesAndWeightsThereIsNothingToShow() {
		assertThatBody(member(FIRST, "", 1), member(SECOND, "", 1)).doesNotContainKeys("zones", "weights");
	}

	private static Member member(String address, String zone, int weight) {
		return new Member(0, Member.idOf(address), address, zone, weight);
	}

	private static MapAssert<Object, Object> assertThatBody(Member... members) {
		Topology topology = Topology.ofMembers(List.of(members), 2);
		TopologyEndpoint endpoint = new TopologyEndpoint(
				() -> new Layout(0, topology), topology.member(FIRST), List::of, new Inspection(topology,
						new RendezvousPlacement(topology), List.of(), TimeSource.SYSTEM, Duration.ofSeconds(1)),
				Convergence.alone());
		return assertThat(Objects.requireNonNull(Now.of(endpoint.topology(null, null))).getBody())
			.asInstanceOf(InstanceOfAssertFactories.MAP);
	}

}
