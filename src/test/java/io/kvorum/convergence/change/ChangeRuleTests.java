package io.kvorum.convergence.change;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.change.ChangeRule.Seen;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Three nodes a, b, c, of which a is replaced by d. One of three may be missing. */
class ChangeRuleTests {

	private static final Topology CHANGE = Topology.changing(of("abc"), of("bcd"));

	private static Topology of(String nodes) {
		return Topology.of(Arrays.stream(nodes.split("")).map(ChangeRuleTests::address).toList(), 3);
	}

	private static String address(String node) {
		return "http://%s:1".formatted(node);
	}

	/** What a node knows: the first letters of others, each with what is known. */
	private static ChangeRule rule(String self, Object... known) {
		return rule(CHANGE, self, known);
	}

	private static ChangeRule rule(Topology change, String self, Object... known) {
		Map<Long, Seen> seen = new HashMap<>();
		for (int i = 0; i < known.length; i += 2) {
			seen.put(Member.idOf(address((String) known[i])), (Seen) known[i + 1]);
		}
		return new ChangeRule(change, change.member(address(self)), seen);
	}

	private static List<String> names(List<Member> members) {
		return members.stream().map(member -> member.address().substring(7, 8)).toList();
	}

	@Test
	void aNodeStaysOpenUntilAllNodesBeforeAreInTheChange() {
		assertThat(names(rule("b").toClose())).containsExactly("a", "c");
		assertThat(names(rule("b", "c", Seen.OPEN).toClose())).containsExactly("a");
		assertThat(rule("b", "a", Seen.OPEN, "c", Seen.OPEN).toClose()).isEmpty();
		assertThat(names(rule("d", "a", Seen.OPEN, "c", Seen.OPEN).toClose())).containsExactly("b");
	}

	@Test
	void aMinorityOfDeadNodesIsNotWaitedFor() {
		assertThat(rule("b", "a", Seen.AWAY, "c", Seen.OPEN).toClose()).isEmpty();
		assertThat(names(rule("b", "a", Seen.AWAY).toClose())).containsExactly("c");
		assertThat(names(rule("b", "a", Seen.AWAY, "c", Seen.AWAY).toClose())).containsExactly("a", "c");
	}

	/** Another has seen all of them in the change. The added one is closed anyway. */
	@Test
	void aNodeClosesOnceOneOfTheNodesBeforeHas() {
		assertThat(rule("b", "c", Seen.CLOSED).toClose()).isEmpty();
		assertThat(rule("b", "c", Seen.SYNCED).toClose()).isEmpty();
		assertThat(names(rule("b", "d", Seen.CLOSED).toClose())).containsExactly("a", "c");
	}

	@Test
	void nothingIsCopiedUntilNodesBeforeAreNoMajorityForAnyone() {
		assertThat(names(rule("b", "a", Seen.OPEN, "c", Seen.OPEN).toBeFenced())).containsExactly("a", "c");
		assertThat(rule("b", "a", Seen.AWAY, "c", Seen.CLOSED).toBeFenced()).isEmpty();
		assertThat(names(rule("d", "a", Seen.OPEN, "b", Seen.OPEN, "c", Seen.CLOSED).toBeFenced())).containsExactly("a",
				"b");
		assertThat(rule("d", "a", Seen.BEFORE, "b", Seen.SYNCED, "c", Seen.CLOSED).toBeFenced()).isEmpty();
	}

	@Test
	void aNodeComparesItselfWithAMajorityOfTheReplicasBeforeAndWithAllThatAreThere() {
		assertThat(rule("b").toBeSynced(ChangeRuleTests::isC, member -> !isC(member))).isEmpty();
		assertThat(names(rule("b").toBeSynced(ChangeRuleTests::isC, ChangeRuleTests::nobody))).containsExactly("a");
		assertThat(names(rule("b").toBeSynced(_ -> false, ChangeRuleTests::nobody))).containsExactly("a", "c");
		// An added node has nothing, and needs two of three.
		assertThat(names(rule("d").toBeSynced(ChangeRuleTests::isC, _ -> true))).containsExactly("a", "b");
		assertThat(rule("d").toBeSynced(member -> !isC(member), ChangeRuleTests::isC)).isEmpty();
		assertThat(names(rule("d").toBeSynced(member -> !isC(member), ChangeRuleTests::nobody))).containsExactly("c");
	}

	private static boolean nobody(Member member) {
		return false;
	}

	private static boolean isC(Member member) {
		return member.address().equals(address("c"));
	}

	@Test
	void itIsDoneWhenAMajorityOfTheReplicasAfterHasAll() {
		assertThat(names(rule("b", "c", Seen.CLOSED, "d", Seen.CLOSED).toBeDone())).containsExactly("c", "d");
		assertThat(rule("b", "c", Seen.CLOSED, "d", Seen.SYNCED).toBeDone()).isEmpty();
		assertThat(names(rule("a", "b", Seen.CLOSED, "c", Seen.CLOSED, "d", Seen.SYNCED).toBeDone()))
			.containsExactly("b", "c");
	}

	@Test
	void aNodeThatMissedTheChangeFollowsOneThatIsDone() {
		ChangeRule rule = rule("b", "d", Seen.DONE);

		assertThat(rule.toClose()).isEmpty();
		assertThat(rule.toBeFenced()).isEmpty();
		assertThat(rule.toBeDone()).isEmpty();
	}

	/** A new node that is slower than two others is not left without its copies. */
	@Test
	void onceOthersAreDoneANodeStillComparesItselfWithThoseThatAreThere() {
		ChangeRule rule = rule("d", "b", Seen.DONE, "c", Seen.DONE);

		assertThat(names(rule.toBeSynced(_ -> false, ChangeRuleTests::nobody))).containsExactly("a", "b", "c");
		assertThat(names(rule.toBeSynced(_ -> false, ChangeRuleTests::isC))).containsExactly("a", "b");
		assertThat(rule.toBeSynced(member -> !isC(member), ChangeRuleTests::isC)).isEmpty();
		assertThat(rule.toBeSynced(ChangeRuleTests::isC, member -> !isC(member))).isEmpty();
	}

	@Test
	void aNodeThatLeavesHoldsNothingAfterwards() {
		assertThat(rule("a").isAfter()).isFalse();
		assertThat(rule("b").isAfter()).isTrue();
		assertThat(rule("d").isAfter()).isTrue();
	}

	@Test
	void whereNothingMayBeMissingAllAreNeeded() {
		Topology grows = Topology.changing(of("a"), of("abc"));

		assertThat(rule(grows, "a", "b", Seen.BEFORE, "c", Seen.BEFORE).toClose()).isEmpty();
		assertThat(names(rule(grows, "b", "a", Seen.AWAY).toBeFenced())).containsExactly("a");
		assertThat(names(rule(grows, "b").toBeSynced(_ -> false, ChangeRuleTests::nobody))).containsExactly("a");
		assertThat(rule(grows, "b").toBeSynced(_ -> true, ChangeRuleTests::nobody)).isEmpty();
	}

}
