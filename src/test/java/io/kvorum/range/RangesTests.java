package io.kvorum.range;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Lineage;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.RangeScope;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.storage.Page;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** How many ranges there may be, and of how many nodes one may do without. */
class RangesTests {

	private static final int PAGE = 1 << 10;

	private static final int VALUE = 1 << 15;

	private static RangeSettings settings(int maxConcurrent, long maxBytes) {
		return new RangeSettings(maxConcurrent, maxBytes, PAGE, VALUE, Duration.ofSeconds(5));
	}

	/** Nodes, factor, and how many nodes must take part. */
	@ParameterizedTest
	@CsvSource({ "1, 1, 1", "2, 1, 2", "2, 2, 2", "3, 1, 3", "3, 2, 3", "3, 3, 2", "5, 1, 5", "5, 2, 5", "5, 3, 4",
			"5, 4, 4", "5, 5, 3" })
	void aRangeIsWholeWhileAMajorityOfEachKeysReplicasTakesPart(int nodes, int factor, int required) {
		for (int away = 0; away <= nodes; away++) {
			ScriptedRanges cluster = new ScriptedRanges(nodes, factor);
			cluster.fill(1);
			for (int i = 0; i < away; i++) {
				cluster.replica(nodes - 1 - i).fail(Reason.AWAY);
			}
			RangeCursor read = cluster.open();
			if (nodes - away >= required) {
				assertThat(ScriptedRanges.keys(read)).hasSize(1);
			}
			else {
				assertThat(ScriptedRanges.next(read)).failsWithin(Duration.ZERO)
					.withThrowableThat()
					.havingCause()
					.isInstanceOfSatisfying(OperationFailedException.class,
							ex -> assertThat(ex.required()).isEqualTo(required));
			}
		}
	}

	@Test
	void aRangeBeyondTheLargestNumberIsRefusedWithTheNameOfTheLimitAndAfterACloseThereIsRoomAgain() {
		ScriptedRanges cluster = new ScriptedRanges(3, 3, settings(2, 1 << 30));
		RangeCursor first = cluster.open();
		RangeCursor second = cluster.open();

		assertThatExceptionOfType(OperationFailedException.class).isThrownBy(cluster::open)
			.withMessage("2 ranges are under way, as many as kvorum.range.max-concurrent allows")
			.matches(ex -> ex.kind() == Kind.NOT_ACCEPTED && !ex.mayHaveHappened() && ex.mayRetry());
		assertThatExceptionOfType(OperationFailedException.class).isThrownBy(() -> cluster.ranges
			.open(RangeQuery.of(RangeScope.NODE, KeyRange.all(), 1), _ -> Mono.empty(), OperationObserver.NONE));
		first.close();
		first.close();
		RangeCursor third = cluster.open();
		assertThatExceptionOfType(OperationFailedException.class).as("closed twice, there is one place")
			.isThrownBy(cluster::open);
		second.close();
		third.close();
		assertThat(cluster.events.stream().filter(event -> event.startsWith("refused")))
			.containsExactly("refused CLUSTER", "refused NODE", "refused CLUSTER");
	}

	/** The other one has it from when the key had more replicas. */
	@Test
	void aNodeThatIsNoReplicaOfAKeyDoesNotCountForTheMajorityOfABallot() {
		ScriptedRanges cluster = new ScriptedRanges(4, 3);
		Key key = Generator.key("key");
		List<Member> members = cluster.replicas.stream().map(ListingReplica::member).toList();
		List<Member> replicas = new RendezvousPlacement(Topology.of(members.stream().map(Member::address).toList(), 3))
			.replicasOf(key, 3);
		Live old = ScriptedRanges.value(ScriptedRanges.OLD, 10);
		Live accepted = old.under(ScriptedRanges.NEW, Lineage.of(ScriptedRanges.NEW, true, old));
		for (Member member : members) {
			boolean hasAccepted = !replicas.contains(member) || member.equals(replicas.getFirst());
			cluster.replica(member.index()).put(key, hasAccepted ? accepted : old);
		}

		assertThat(ScriptedRanges.keys(cluster.open())).isEmpty();
		assertThat(cluster.read).as("the key is read by itself").containsExactly(key);
	}

	@Test
	void aRangeForWhichThereIsNoMemoryIsRefusedWithTheNameOfTheLimit() {
		// Two pages of each node, two on their way to the client, and copies of a value.
		long one = 8 * (PAGE + Page.SLACK_BYTES) + 4 * VALUE;
		assertThat(settings(1, 1).bytesOf(3)).isEqualTo(one);
		ScriptedRanges cluster = new ScriptedRanges(3, 3, settings(100, 3 * one - 1));
		List<RangeCursor> open = new ArrayList<>(List.of(cluster.open(), cluster.open()));

		assertThatExceptionOfType(OperationFailedException.class).isThrownBy(cluster::open)
			.withMessage(
					"the ranges under way have taken kvorum.range.max-in-flight-size of %d bytes, but for less than %d"
						.formatted(3 * one - 1, one));
		open.removeFirst().close();
		assertThat(cluster.open()).isNotNull();
	}

	/** In a cluster that has grown since its limits were set. */
	@Test
	void aRangeThatTakesMoreThanTheLimitIsOpenedAlone() {
		ScriptedRanges cluster = new ScriptedRanges(3, 3, settings(100, 1));
		RangeCursor alone = cluster.open();
		assertThatExceptionOfType(OperationFailedException.class).isThrownBy(cluster::open);
		alone.close();
		assertThat(cluster.open()).isNotNull();
	}

}
