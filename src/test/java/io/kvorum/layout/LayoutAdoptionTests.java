package io.kvorum.layout;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.layout.LayoutAdoption.Phase;
import io.kvorum.layout.LayoutAdoption.Standing;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LayoutAdoptionTests {

	private static final Topology BEFORE = Topology.of(List.of("http://a", "http://b", "http://c"), 3);

	private static final Topology NEXT = Topology.of(List.of("http://b", "http://c", "http://d", "http://e"), 3);

	private static final Layout CHANGE = new Layout(1, Topology.changing(BEFORE, NEXT));

	private static final Duration LONGEST = Duration.ofSeconds(2);

	private final SteeredTime time = new SteeredTime();

	private LayoutAdoption adoption(@Nullable Topology before) {
		return new LayoutAdoption(before, CHANGE, LONGEST, this.time);
	}

	private static Member next(String address) {
		return CHANGE.topology().member(address);
	}

	@Test
	void allNewNodesHaveToAnswerButTheOneThatTakesTheLayout() {
		assertThat(adoption(BEFORE).added(next("http://b"))).containsExactlyInAnyOrder(next("http://d"),
				next("http://e"));
		assertThat(adoption(BEFORE).added(next("http://d"))).containsExactly(next("http://e"));
		assertThat(adoption(null).added(next("http://d"))).as("it has served nothing").isEmpty();
	}

	@Test
	void aNodeThatHasMissedAChangeDoesNotWaitForTheNodesOfThatOne() {
		Topology last = Topology.of(List.of("http://b", "http://c", "http://d", "http://f"), 3);
		Layout following = new Layout(3, Topology.changing(NEXT, last));
		Member self = following.topology().member("http://b");

		assertThat(new LayoutAdoption(BEFORE, CHANGE.moved(2), LONGEST, this.time).added(self)).isEmpty();
		assertThat(new LayoutAdoption(BEFORE, following, LONGEST, this.time).added(self))
			.containsExactly(following.topology().member("http://f"));
	}

	@Test
	void aNodeThatStaysAndIsAwayCountsAsOneThatDoesNotVote() {
		LayoutAdoption adoption = adoption(BEFORE);
		Map<Member, Boolean> one = Map.of(next("http://e"), true);
		this.time.pass(Duration.ofSeconds(11));

		assertThat(adoption.prepared(one, member -> !member.equals(next("http://b")))).isFalse();
		assertThat(adoption.prepared(one, _ -> true)).isTrue();
		assertThat(adoption.prepared(Map.of(), _ -> false)).as("all new nodes vote").isTrue();
	}

	@Test
	void aChangeIsTakenFromTheLayoutBeforeIt() {
		Layout change = new Layout(3, Topology.changing(BEFORE, NEXT));
		Layout over = change.moved(4);
		Layout following = new Layout(6, Topology.changing(NEXT, BEFORE));
		Layout between = following.aborted(5);
		Layout farBehind = new Layout(1, Topology.of(List.of("http://b", "http://x"), 1));

		assertThat(LayoutAdoption.next("http://b", change, true, Standing.VOTING, over)).isEqualTo(over);
		assertThat(LayoutAdoption.next("http://b", change, true, Standing.VOTING, following)).isEqualTo(between);
		assertThat(LayoutAdoption.next("http://b", farBehind, false, Standing.VOTING, following)).isEqualTo(between);
		assertThat(LayoutAdoption.next("http://b", between, false, Standing.VOTING, following))
			.as("it tells others first")
			.isNull();
		assertThat(LayoutAdoption.next("http://b", between, true, Standing.VOTING, following)).isEqualTo(following);
		assertThat(LayoutAdoption.next("http://a", farBehind, true, Standing.VOTING, following))
			.as("not a member of the layout before")
			.isEqualTo(following);
	}

	@Test
	void aLayoutWhoseNewNodesDoNotAnswerCanBeLeftAfterTenSeconds() {
		LayoutAdoption adoption = adoption(BEFORE);
		this.time.pass(Duration.ofSeconds(10));
		assertThat(adoption.isHeldUp()).isFalse();
		this.time.pass(Duration.ofMillis(1));
		assertThat(adoption.isHeldUp()).isTrue();

		assertThat(adoption.prepared(Map.of(), _ -> true)).isTrue();
		adoption.served();
		assertThat(adoption.isHeldUp()).as("operations that began with it may be under way").isFalse();
	}

	@Test
	void aNodeWithoutAVoteTakesTheNewestLayoutAtOnceUnlessItIsAboutToHaveOne() {
		Layout now = new Layout(3, BEFORE);
		Layout change = new Layout(5, Topology.changing(BEFORE, NEXT));

		assertThat(LayoutAdoption.next("http://b", now, true, Standing.OUT, change)).isEqualTo(change);
		assertThat(LayoutAdoption.next("http://b", now, true, Standing.STARTING, change)).isNull();
		assertThat(LayoutAdoption.next("http://b", now, true, Standing.STARTING, change.moved(6)))
			.isEqualTo(change.moved(6));
	}

	@Test
	void aMemberIsAboutToVoteForTenSeconds() {
		long started = -5;
		long soon = started + Duration.ofSeconds(10).toNanos() - 1;

		assertThat(Standing.of(false, true, started, soon)).isEqualTo(Standing.STARTING);
		assertThat(Standing.of(false, true, started, soon + 1)).isEqualTo(Standing.OUT);
		assertThat(Standing.of(false, false, started, soon)).isEqualTo(Standing.OUT);
		assertThat(Standing.of(true, true, started, soon + 1)).isEqualTo(Standing.VOTING);
	}

	@Test
	void operationsGoOnAsBeforeWhileANewNodeIsSilent() {
		LayoutAdoption adoption = adoption(BEFORE);

		assertThat(adoption.prepared(Map.of(next("http://e"), false), _ -> true)).isFalse();
		assertThat(adoption.phase()).isEqualTo(Phase.PREPARING);
		assertThat(adoption.unready()).containsExactly(next("http://e"));
		this.time.pass(Duration.ofHours(1));
		assertThat(adoption.drained()).as("nothing is drained before operations have changed").isFalse();

		assertThat(adoption.prepared(Map.of(), _ -> true)).isTrue();
		assertThat(adoption.unready()).isEmpty();
		adoption.served();
		assertThat(adoption.prepared(Map.of(), _ -> true)).as("once").isFalse();
	}

	@Test
	void operationsAreOverTheirLongestTimeAfterTheLastOneOfTheLayoutBefore() {
		LayoutAdoption adoption = adoption(BEFORE);
		assertThat(adoption.prepared(Map.of(), _ -> true)).isTrue();
		this.time.pass(LONGEST);
		adoption.served();
		this.time.pass(LONGEST);
		assertThat(adoption.drained()).isFalse();
		this.time.pass(Duration.ofMillis(100));
		assertThat(adoption.drained()).isTrue();
	}

	@Test
	void aNewNodeThatHasLostItsDiskIsNotWaitedForWhereTheOthersAreEnough() {
		LayoutAdoption adoption = adoption(BEFORE);
		Map<Member, Boolean> one = Map.of(next("http://e"), true);
		assertThat(adoption.prepared(one, _ -> true)).as("it may have just started").isFalse();
		this.time.pass(Duration.ofSeconds(11));

		assertThat(adoption.prepared(Map.of(next("http://d"), true, next("http://e"), true), _ -> true)).isFalse();
		assertThat(adoption.prepared(Map.of(next("http://e"), false), _ -> true)).isFalse();
		assertThat(adoption.prepared(one, _ -> true)).isTrue();
		assertThat(adoption.unready()).isEmpty();
	}

	@Test
	void othersAreToldOnceWhenNoOperationOfTheLayoutBeforeCanBeUnderWay() {
		LayoutAdoption adoption = adoption(BEFORE);
		adoption.prepared(Map.of(), _ -> true);
		adoption.served();
		this.time.pass(LONGEST);
		assertThat(adoption.drained()).as("a timer may be late").isFalse();
		assertThat(adoption.phase()).isEqualTo(Phase.DRAINING);

		this.time.pass(Duration.ofMillis(100));
		assertThat(adoption.drained()).isTrue();
		assertThat(adoption.phase()).isEqualTo(Phase.TELLING);
		assertThat(adoption.drained()).as("once").isFalse();
	}

	@Test
	void aNodeThatHasServedNothingTellsAtOnce() {
		LayoutAdoption adoption = adoption(null);

		assertThat(adoption.prepared(Map.of(), _ -> true)).isTrue();
		adoption.served();
		assertThat(adoption.drained()).isTrue();
	}

}
