package io.kvorum.observability;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.Convergence;
import io.kvorum.layout.SteeredLayoutNode;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.SteeredTime;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** The cluster as one of three nodes gathers it. */
class ClusterReportsTests {

	private static final String OWN = "http://a:1";

	private static final String SECOND = "http://b:1";

	private static final String THIRD = "http://c:1";

	private final JsonMapper json = new JsonMapper();

	private final MeterRegistry registered = new SimpleMeterRegistry();

	private final SteeredLayoutNode node = new SteeredLayoutNode();

	private final Map<String, Mono<String>> answers = new HashMap<>();

	private boolean isRetired;

	private Layout layout = new Layout(7, Topology.of(List.of(OWN, SECOND, THIRD), 3));

	private ClusterReports reports() {
		NodeReport own = new NodeReport(Topology.of(List.of(OWN), 1).members().getFirst(), "1.2.3", () -> this.layout,
				this.node, List::of, Convergence.alone(),
				new RequestRate(new RequestMeters(this.registered), new SteeredTime()), this.registered, this.json,
				this.isRetired);
		return new ClusterReports(own, () -> this.layout, this.node,
				address -> this.answers.getOrDefault(address, Mono.error(new IllegalStateException("refused"))),
				this.json);
	}

	private JsonNode gather() {
		return this.json.valueToTree(Awaited.of(reports().gather()));
	}

	@Test
	void itHasWhatEachNodeTellsInTheOrderOfTheLayout() {
		this.answers.put(THIRD, Mono.just("{\"address\":\"http://c:1\",\"state\":\"quarantine\",\"later\":[1]}"));
		this.answers.put(SECOND, Mono.just("{\"address\":\"http://b:1\",\"state\":\"member\"}"));

		JsonNode view = gather();

		assertThat(view.path("nodes").values()).extracting(it -> it.path("address").asString())
			.containsExactly(OWN, SECOND, THIRD);
		assertThat(view.path("nodes").values()).extracting(it -> it.path("state").asString())
			.containsExactly("member", "member", "quarantine");
		assertThat(view.at("/nodes/2/later/0").asInt()).as("of a later release").isEqualTo(1);
		assertThat(view.path("unreachable")).isEmpty();
		assertThat(view.at("/layout/version").asInt()).isEqualTo(7);
		assertThat(view.at("/layout/state").asString()).isEqualTo("stable");
	}

	@Test
	void aNodeThatFailsIsAwayWithTheReason() {
		this.answers.put(SECOND, Mono.just("{\"address\":\"http://b:1\",\"state\":\"member\"}"));

		JsonNode view = gather();

		assertThat(view.at("/nodes/2/state").asString()).isEqualTo("away");
		assertThat(view.at("/nodes/2/address").asString()).isEqualTo(THIRD);
		assertThat(view.path("unreachable").values()).singleElement()
			.satisfies(it -> assertThat(it.toString()).contains(THIRD, "refused"));
	}

	@Test
	void aNodeThatAnswersNonsenseIsAway() {
		this.answers.put(SECOND, Mono.just("no JSON"));

		assertThat(gather().at("/nodes/1/state").asString()).isEqualTo("away");
	}

	@Test
	void nodesThatAreSilentHoldUpTheAnswerForABoundedTime() {
		this.answers.put(SECOND, Mono.never());
		this.answers.put(THIRD, Mono.never());

		StepVerifier.withVirtualTime(() -> reports().gather())
			.expectSubscription()
			.expectNoEvent(ClusterReports.TIMEOUT.minusMillis(1))
			.thenAwait(ClusterReports.TIMEOUT)
			.assertNext(view -> assertThat(view.get("unreachable")).asInstanceOf(InstanceOfAssertFactories.LIST)
				.hasSize(2)
				.allSatisfy(it -> assertThat(String.valueOf(it)).contains("no answer within 1000 ms")))
			.verifyComplete();
	}

	@Test
	void aNodeTellsItsPartInAChange() {
		Topology before = Topology.of(List.of(SECOND, THIRD), 2);
		Topology after = Topology.of(List.of(OWN, SECOND), 2);
		this.layout = new Layout(7, before).movingTo(after, 8);
		assertThat(gather().path("nodes").values()).filteredOn(it -> it.path("address").asString().equals(OWN))
			.singleElement()
			.satisfies(it -> assertThat(it.path("state").asString()).isEqualTo("joining"));

		this.layout = new Layout(7, after).movingTo(before, 8);
		assertThat(gather().path("nodes").values()).filteredOn(it -> it.path("address").asString().equals(OWN))
			.singleElement()
			.satisfies(it -> assertThat(it.path("state").asString()).isEqualTo("leaving"));
	}

	@Test
	void aNodeOutsideOfTheClusterShowsItselfToo() {
		this.layout = new Layout(7, Topology.of(List.of(SECOND, THIRD), 2));
		this.node.outside = "it was removed";

		JsonNode view = gather();

		assertThat(view.path("nodes")).hasSize(3);
		assertThat(view.at("/nodes/2/address").asString()).isEqualTo(OWN);
		assertThat(view.at("/nodes/2/state").asString()).isEqualTo("outside");
	}

}
