package io.kvorum.observability;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.LayoutDecision;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.change.CopyProgress;
import io.kvorum.convergence.change.CopyProgress.OfNode;
import io.kvorum.convergence.change.Step;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Value;
import io.kvorum.layout.LayoutAdmin;
import io.kvorum.layout.LayoutPeers;
import io.kvorum.layout.LayoutRegister;
import io.kvorum.layout.SteeredLayoutNode;
import io.kvorum.operation.Condition;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.WriteOptions;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.ConditionalStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

class LayoutEndpointTests {

	private static final JsonMapper JSON = new JsonMapper();

	private static final Topology TWO = Topology.of(List.of("http://a:1", "http://b:1"), 3);

	private final SteeredLayoutNode node = new SteeredLayoutNode();

	private final ConditionalStore store = new ConditionalStore();

	private final LayoutEndpoint endpoint = new LayoutEndpoint(this.node, new LayoutAdmin(
			new LayoutRegister(this.store, () -> new LayoutDecision(0, new Layout(0, TWO))), new Others()), JSON);

	LayoutEndpointTests() {
		this.node.layout = new Layout(0, TWO);
	}

	private static Map<?, ?> body(Mono<WebEndpointResponse<Object>> answer, int status) {
		WebEndpointResponse<Object> response = Objects.requireNonNull(Awaited.of(answer));
		Map<?, ?> body = JSON.convertValue(response.getBody(), Map.class);
		assertThat(response.getStatus()).as(String.valueOf(body)).isEqualTo(status);
		return body;
	}

	private Map<?, ?> change(String stage, int status) {
		return body(this.endpoint.change(stage, null, null, null, null), status);
	}

	@Test
	void itShowsTheNodesAndWhatIsStagedWithWhatMoves() {
		assertThat(body(this.endpoint.show(), 200).toString()).contains("version=0", "state=stable", "factor=3",
				"address=http://a:1", "weight=1");

		Map<?, ?> staged = (Map<?, ?>) Objects.requireNonNull(
				change("{\"add\":[{\"address\":\"http://c:1\",\"weight\":2}],\"factor\":2}", 202).get("staged"));
		assertThat(staged.get("factor")).isEqualTo(2);
		assertThat(String.valueOf(staged.get("members"))).contains("address=http://c:1, weight=2");
		Map<?, ?> moves = (Map<?, ?>) Objects.requireNonNull(staged.get("moves"));
		assertThat(moves.keySet()).hasSize(3);
		// This node has 1 MB, half of what three nodes with two replicas of each key
		// have.
		assertThat(((Number) Objects.requireNonNull(staged.get("bytes"))).longValue()).isBetween(900_000L, 1_000_000L);
		assertThat(((Number) Objects.requireNonNull(staged.get("secondsAtMaxRate"))).longValue()).isBetween(900L,
				1_000L);
	}

	@Test
	void aChangeIsShownWithItsStepUntilItIsGivenUp() {
		long staged = ((Number) Objects
			.requireNonNull(change("{\"add\":[{\"address\":\"http://c:1\"}]}", 202).get("version"))).longValue();
		this.node.change = new ChangeStatus(Step.CLOSED, List.of(TWO.members().getFirst()), "to refuse others");

		Map<?, ?> moving = body(this.endpoint.change(null, staged, null, null, null), 202);
		assertThat(moving.get("state")).isEqualTo("moving");
		assertThat(String.valueOf(moving.get("moving"))).contains("step=closed", "waitsFor=[http://a:1]");
		assertThat(String.valueOf(change("{\"factor\":2}", 409).get("detail"))).contains("is under way");
		assertThat(body(this.endpoint.change(null, null, "true", null, null), 202).get("state")).isEqualTo("stable");
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = '|', value = { "null | 'stage' is an object, not null.",
			"[] | 'stage' is an object", "nodes | 'stage' is an object", "{\"grow\":1} | 'stage' has no 'grow'",
			"{\"add\":{}} | 'add' is a list.", "{\"add\":[\"http://c:1\"]} | An item of 'add' is an object.",
			"{\"add\":[{\"weight\":1}]} | 'address' is missing",
			"{\"add\":[{\"address\":\"http://c:1\",\"weight\":\"2\"}]} | 'weight' is a whole number",
			"{\"add\":[{\"address\":\"http://c:1\",\"weight\":99999999999}]} | 'weight' is a whole number",
			"{\"add\":[{\"address\":\"http://c:1\",\"wieght\":2}]} | An item of 'add' has no 'wieght': it has [address, zone, weight].",
			"{\"add\":[null]} | An item of 'add' is an object.", "{\"remove\":\"http://a:1\"} | 'remove' is a list.",
			"{\"add\":null} | 'add' is a list.", "{\"factor\":2} {} | 'stage' is an object",
			"{\"replace\":[{\"dead\":\"http://a:1\"}]} | 'by' is missing",
			"{\"replace\":[{\"by\":\"http://a:1\"}]} | 'dead' is missing",
			"{\"replace\":[{\"node\":\"http://a:1\"}]} | An item of 'replace' has no 'node'",
			"{\"factor\":2.5} | 'factor' is a whole number" })
	void whatIsNoEditIsABadRequest(String stage, String why) {
		assertThat(String.valueOf(change(stage, 400).get("detail"))).contains(why);
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = '|', value = {
			"{\"add\":[{\"address\":\"c\"}]} | must be http://host:port",
			"{\"add\":[{\"address\":\"http://c:1\",\"zone\":\"a b\"}]} | must be 1 to 63 letters",
			"{\"add\":[{\"address\":\"http://c:1\",\"weight\":0}]} | a weight is 1 to 1000",
			"{\"add\":[{\"address\":\"http://c:1\",\"zone\":\"a\\nb\"}]} | must be 1 to 63 letters",
			"{\"add\":[{\"address\":\"http://c:1\",\"weight\":-1}]} | a weight is 1 to 1000",
			"{\"add\":[{\"address\":\"http://c:1\"},{\"address\":\"http://c:1\"}]} | is to be added twice",
			"{\"replace\":[{\"dead\":\"http://a:1\",\"by\":\"http://a:1\"}]} | is to be added and to be removed",
			"{} | nothing would change", "{\"remove\":[null]} | null is none of the nodes",
			"{\"factor\":0} | a key has at least 1 replica", "{\"remove\":[\"http://x:1\"]} | is none of the nodes" })
	void anEditThatCannotBeIsRefused(String stage, String why) {
		assertThat(String.valueOf(change(stage, 422).get("detail"))).contains(why);
	}

	@Test
	void aNodeThatIsReplacedIsRemovedAndTheOtherOneAdded() {
		Map<?, ?> staged = (Map<?, ?>) Objects
			.requireNonNull(change("{\"replace\":[{\"dead\":\"http://a:1\",\"by\":\"http://c:1\",\"weight\":3}]}", 202)
				.get("staged"));

		assertThat(String.valueOf(staged.get("members"))).contains("http://b:1", "address=http://c:1, weight=3")
			.doesNotContain("http://a:1");
	}

	@Test
	void theWholeAnswerInAChangeThatIsStagedAndApplied() {
		Map<?, ?> staged = change("{\"remove\":[\"http://b:1\"],\"factor\":1}", 202);
		assertJson(staged, """
				{
				  "version": 1, "layout": 0, "state": "stable", "factor": 3,
				  "members": [
				    { "node": "%1$s", "address": "http://a:1", "weight": 1 },
				    { "node": "%2$s", "address": "http://b:1", "weight": 1 }
				  ],
				  "staged": {
				    "factor": 1,
				    "members": [ { "node": "%1$s", "address": "http://a:1", "weight": 1 } ],
				    "moves": {
				      "http://a:1": { "gainsPartitions": 0, "givesUpPartitions": 0, "bytes": 0 },
				      "http://b:1": { "gainsPartitions": 0, "givesUpPartitions": %3$d, "bytes": 0 }
				    },
				    "bytes": 0, "secondsAtMaxRate": 0
				  }
				}
				""");
		assertJson(body(this.endpoint.show(), 200), JSON.writeValueAsString(staged));

		this.node.change = new ChangeStatus(Step.OPEN, List.of(), "");
		assertJson(body(this.endpoint.change(null, 1L, null, null, null), 202), """
				{
				  "version": 2, "layout": 2, "state": "moving", "factor": 3,
				  "members": [
				    { "node": "%1$s", "address": "http://a:1", "weight": 1 },
				    { "node": "%2$s", "address": "http://b:1", "weight": 1 }
				  ],
				  "next": {
				    "factor": 1,
				    "members": [ { "node": "%1$s", "address": "http://a:1", "weight": 1 } ]
				  },
				  "moving": {
				    "step": "open",
				    "waitsFor": []
				  }
				}
				""");
	}

	/** Compares JSON with the identities of both nodes and the number of partitions. */
	private static void assertJson(Map<?, ?> body, String expected) {
		assertThat(JSON.readTree(JSON.writeValueAsString(body)))
			.isEqualTo(JSON.readTree(expected.formatted(Long.toHexString(Member.idOf("http://a:1")),
					Long.toHexString(Member.idOf("http://b:1")), Partitions.COUNT)));
	}

	@Test
	void aChangeTellsWhatWasCopiedToEachNodeAndIsPaused() {
		change("{\"remove\":[\"http://b:1\"],\"factor\":1}", 202);
		assertThat(body(this.endpoint.change(null, null, null, true, null), 409).get("detail"))
			.isEqualTo("No change is under way.");
		body(this.endpoint.change(null, 1L, null, null, null), 202);
		this.node.change = new ChangeStatus(Step.CLOSED, List.of(), "");
		this.node.copying = new CopyProgress(Member.idOf("http://a:1"), Map.of(Member.idOf("http://a:1"),
				new OfNode(Step.CLOSED, 900, 300), Member.idOf("http://b:1"), new OfNode(null, 0, 0)), 200);

		Map<?, ?> moving = (Map<?, ?>) body(this.endpoint.change(null, null, null, true, null), 202).get("moving");
		assertThat(JSON.readTree(JSON.writeValueAsString(moving))).isEqualTo(JSON.readTree("""
				{
				  "paused": true, "step": "closed", "waitsFor": [],
				  "bytes": 900, "movedBytes": 300, "bytesPerSecond": 200, "remainingSeconds": 3,
				  "nodes": {
				    "http://a:1": { "step": "closed", "bytes": 900, "movedBytes": 300 },
				    "http://b:1": { "step": "unknown", "bytes": 0, "movedBytes": 0 }
				  }
				}
				"""));
		assertThat(String.valueOf(body(this.endpoint.change(null, null, null, null, true), 202)))
			.doesNotContain("paused");
	}

	@Test
	void aNodeThatHasNotTakenTheLayoutYetKnowsNoProgress() {
		change("{\"factor\":1}", 202);
		body(this.endpoint.change(null, 1L, null, null, null), 202);
		this.node.layout = new Layout(0, TWO);

		assertThat(String.valueOf(body(this.endpoint.show(), 200).get("moving")))
			.isEqualTo("{why=the asked node has not taken this layout yet}");
	}

	@Test
	void aStoreThatDoesNotSayWhatItHoldsGivesNoSizes() {
		this.node.store = Mono.error(new IllegalStateException("closed"));

		assertThat(String.valueOf(change("{\"add\":[{\"address\":\"http://c:1\"}],\"factor\":1}", 202)))
			.contains("gainsPartitions")
			.doesNotContain("bytes", "seconds");
	}

	@Test
	void aNodeThatStillHasOperationsOfTheLayoutBeforeIsMoving() {
		this.node.isSettled = false;

		assertThat(body(this.endpoint.show(), 200).get("state")).isEqualTo("moving");
	}

	@Test
	void ifTooFewNodesAnswerItSaysSo() {
		this.store.failReads(new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS, "1 of 2 replicas answered", 2, 1,
				false, true, List.of()));

		this.node.layout = new Layout(4, TWO);
		assertThat(String.valueOf(body(this.endpoint.show(), 503))).as("what this node has")
			.contains("own={", "layout=4", "http://a:1", "1 of 2 replicas answered");
		this.node.layout = null;
		assertThat(body(this.endpoint.show(), 503).get("own")).isNull();
		for (Mono<WebEndpointResponse<Object>> answer : List.of(
				this.endpoint.change("{\"factor\":1}", null, null, null, null),
				this.endpoint.change(null, 1L, null, null, null),
				this.endpoint.change(null, null, "true", null, null))) {
			assertThat(body(answer, 503).get("detail"))
				.isEqualTo("Too few nodes answer to read or change the layout, try again: 1 of 2 replicas answered");
		}
	}

	@Test
	void aDecisionThatMayHaveBeenMadeIsNeverCalledNotMade() {
		for (boolean mayHaveHappened : new boolean[] { true, false }) {
			this.store.failWrites(new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS, "1 of 2 replicas answered", 2,
					1, mayHaveHappened, true, List.of()));

			Map<?, ?> problem = change("{\"factor\":1}", mayHaveHappened ? 504 : 503);
			assertThat(problem.get("outcome")).isEqualTo(mayHaveHappened ? "unknown" : "not-applied");
		}
	}

	@Test
	void aDecisionOfAnotherReleaseIsToldAsThat() {
		Awaited.of(this.store.put(InternalKeys.LAYOUT, WriteOptions.of(this.store.policy().defaults(), Condition.NONE),
				"text/plain", Value.of(new byte[] { 1 }), null, OperationObserver.NONE));

		assertThat(String.valueOf(body(this.endpoint.show(), 409).get("detail")))
			.contains("This release cannot read what was decided last");
		assertThat(String.valueOf(change("{\"factor\":1}", 409).get("detail"))).contains("Update this node");
	}

	@Test
	void oneStepAtATime() {
		body(this.endpoint.change(null, null, null, null, null), 400);
		body(this.endpoint.change("{}", 1L, null, null, null), 400);
		body(this.endpoint.change(null, null, "false", null, null), 400);
		assertThat(body(this.endpoint.change(null, null, "all", null, null), 400).get("detail"))
			.isEqualTo("'abort' is a number or true, not all.");
		assertThat(body(this.endpoint.change(null, 7L, null, null, null), 409).get("detail"))
			.isEqualTo("Nothing is staged.");
	}

	@Test
	void aNodeInNoClusterAndOneWithoutAnAddressSaySo() {
		this.node.layout = null;
		this.node.outside = "this node is in no cluster yet";
		assertThat(body(this.endpoint.show(), 409).get("detail")).isEqualTo(this.node.outside);

		LayoutEndpoint alone = new LayoutEndpoint(null, null, JSON);
		assertThat(String.valueOf(body(alone.show(), 409).get("detail"))).contains("kvorum.cluster.self");
		body(alone.change("{}", null, null, null, null), 409);
	}

	/** The others of the cluster, which answer, and nodes that wait to be added. */
	private final class Others implements LayoutPeers {

		@Override
		public void decided(LayoutDecision decision) {
			assertThat(decision.number()).isPositive();
			LayoutEndpointTests.this.node.layout = decision.layout();
		}

		@Override
		public Mono<String> ask(String address) {
			return Mono.just(WAITING);
		}

	}

}
