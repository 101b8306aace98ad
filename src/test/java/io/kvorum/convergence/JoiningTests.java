package io.kvorum.convergence;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import io.kvorum.cluster.Member;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.antientropy.RepairProgress;
import io.kvorum.convergence.quarantine.QuarantineProgress;
import io.kvorum.storage.HintLog.Waiting;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class JoiningTests {

	private static final Member B = SteeredConvergence.B;

	private static final Member C = SteeredConvergence.C;

	private static final String NOT_EQUAL = "not found equal since the start";

	private static final String NOT_REACHED = "it does not reach this node";

	private final SteeredConvergence node = new SteeredConvergence();

	private final SteeredTime time = new SteeredTime();

	private final Joining joining = new Joining(this.time);

	JoiningTests() {
		this.time.pass(Duration.ofSeconds(5));
		equalSinceTheStart(B);
		equalSinceTheStart(C);
	}

	private void equalSinceTheStart(Member peer) {
		repaired(peer, false, SteeredTime.START_MILLIS);
	}

	private void repaired(Member peer, boolean active, long oldestMillis) {
		this.node.repairs.put(peer, SteeredConvergence.repair(peer, active, 4096, 12, oldestMillis, ""));
	}

	private Map<String, String> waitsFor() {
		return waitsFor(this.node.status());
	}

	private Map<String, String> waitsFor(ConvergenceStatus status) {
		return this.joining.waitsFor(status);
	}

	private void passPatience() {
		this.time.pass(Joining.PATIENCE);
	}

	@Test
	void aMemberThatIsEqualToAllPeersHasJoined() {
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void aNodeAloneHasJoined() {
		assertThat(waitsFor(ConvergenceStatus.ALONE)).isEmpty();
	}

	@Test
	void toHaveBeenEqualBeforeTheStartIsNotEnough() {
		repaired(B, false, SteeredTime.START_MILLIS - 1);
		repaired(C, false, RepairLog.NEVER);

		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_EQUAL, C.address(), NOT_EQUAL));
	}

	/** The first nodes of a rolling restart into a change would wait for ever. */
	@Test
	void aPeerThatIsNotInTheChangeYetNeedNotBeEqual() {
		repaired(B, false, RepairLog.NEVER);
		this.node.withOtherTopology = Set.of(B);
		this.node.hints.put(B, new Waiting(1, 10, 0));
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), "hints wait for it"));

		this.node.hints.clear();
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void aPeerThatIsAwayIsWaitedForAndNotForEver() {
		this.node.there = Set.of(C.address());
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), "it is away"));

		passPatience();
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void aPeerThatComesAndGoesIsWaitedForFromThenOn() {
		repaired(B, false, RepairLog.NEVER);
		this.time.pass(Duration.ofSeconds(50));
		assertThat(waitsFor()).containsOnlyKeys(B.address());

		this.node.there = Set.of(C.address());
		this.time.pass(Duration.ofSeconds(50));
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), "it is away"));

		this.time.pass(Duration.ofSeconds(11));
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void whereAllPeersAreAwayTheNodeServesInTheEnd() {
		this.node.there = Set.of();
		this.node.reachedBy = Set.of();
		assertThat(waitsFor()).containsOnlyKeys(B.address(), C.address());

		passPatience();
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void aPeerThatIsThereAndCannotReachThisNodeIsWaitedForAndNotForEverWhereAMajorityDoes() {
		this.node.reachedBy = Set.of(C.address());
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_REACHED));

		passPatience();
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void whereNoMajorityReachesThisNodeThoseThatAreThereAreWaitedForAsLongAsThatIsSo() {
		this.node.reachedBy = Set.of();
		passPatience();
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_REACHED, C.address(), NOT_REACHED));

		this.node.there = Set.of(C.address());
		this.time.pass(Joining.PATIENCE.plusSeconds(1));
		assertThat(waitsFor()).as("the other one is away").isEqualTo(Map.of(C.address(), NOT_REACHED));

		this.node.reachedBy = Set.of(C.address());
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void aPeerThatDoesNotReachThisNodeIsStillToBeFoundEqual() {
		this.node.reachedBy = Set.of(C.address());
		repaired(B, true, RepairLog.NEVER);
		passPatience();
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_EQUAL));
	}

	@Test
	void aRepairThatIsUnderWayIsWaitedForHoweverLongItTakes() {
		repaired(B, true, RepairLog.NEVER);
		passPatience();
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_EQUAL));
	}

	@Test
	void whereAllHaveStartedTogetherItIsNotSinceNoNodeWouldServeMeanwhile() {
		this.node.before = Set.of();
		repaired(B, true, RepairLog.NEVER);
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_EQUAL));

		passPatience();
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void aPeerThatWasThereBeforeAndIsAwayServesNobody() {
		this.node.before = Set.of(C);
		repaired(B, true, RepairLog.NEVER);
		passPatience();
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_EQUAL));

		this.node.there = Set.of(B.address());
		this.time.pass(Joining.PATIENCE.plusSeconds(1));
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void aRepairThatHasNotBegunIsWaitedForHoweverLongItTakes() {
		this.node.repairs.put(B, new RepairProgress(B, false, 0, 0, 0, 0, RepairLog.NEVER, ""));
		passPatience();
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_EQUAL));
	}

	@Test
	void aRepairThatWasTriedInVainIsNotWaitedForForEver() {
		repaired(B, false, RepairLog.NEVER);
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_EQUAL));

		passPatience();
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void hintsForAPeerThatIsThereAreHandedOverFirst() {
		this.node.hints.put(C, new Waiting(3, 300, SteeredTime.START_MILLIS));
		assertThat(waitsFor()).isEqualTo(Map.of(C.address(), "hints wait for it"));
	}

	@Test
	void aNodeThatHasJoinedIsNotConcernedByWhatHappensToPeers() {
		assertThat(waitsFor()).isEmpty();
		this.node.there = Set.of();
		this.node.reachedBy = Set.of();
		repaired(C, false, RepairLog.NEVER);
		this.node.hints.put(C, new Waiting(3, 300, SteeredTime.START_MILLIS));

		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void aNodeInDoubtHasNotJoinedHoweverLongItTakes() {
		this.node.quarantine = new QuarantineProgress("lost", "it has lost its disk", 64, 12);
		passPatience();
		assertThat(waitsFor()).isEqualTo(Map.of("membership", "it has lost its disk"));
	}

	@Test
	void aNodeThatComesIntoDoubtHasNotJoinedAnyMore() {
		assertThat(waitsFor()).isEmpty();
		this.node.quarantine = new QuarantineProgress("old", "it has an older disk", 64, 0);
		assertThat(waitsFor()).isEqualTo(Map.of("membership", "it has an older disk"));

		this.node.quarantine = new QuarantineProgress("member", "", 0, 0);
		this.node.there = Set.of();
		assertThat(waitsFor()).isEmpty();
	}

	@Test
	void aNodeInQuarantineWaitsForItsPeersAgainOnceItMayVote() {
		this.node.quarantine = new QuarantineProgress("lost", "it has lost its disk", 64, 64);
		assertThat(waitsFor()).containsOnlyKeys("membership");

		this.node.quarantine = new QuarantineProgress("member", "", 0, 0);
		repaired(B, false, RepairLog.NEVER);
		assertThat(waitsFor()).isEqualTo(Map.of(B.address(), NOT_EQUAL));
	}

}
