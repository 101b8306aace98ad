package io.kvorum.convergence.quarantine;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.kvorum.convergence.quarantine.Membership.State;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A node of three: it has identity 7, and others remember disks of it, or do not. */
class AdmissionRuleTests {

	private static final long MOST_AWAY = 1_000;

	private static final Introduction NEW_ONE = said(State.NEW, 0, 0, 0);

	private static final Introduction READY_ONE = said(State.READY, 0, 0, 0);

	private static final Introduction RESTORED_ONE = said(State.RESTORED, 0, 0, 0);

	private static final Introduction REUNITED_ONE = said(State.REUNITED, 0, 0, 0);

	private static final Introduction MEMBER_THAT_KNOWS_NOTHING = said(State.MEMBER, 5_000, 0, 0);

	private static final Introduction MEMBER_THAT_KNOWS_THIS_DISK = said(State.MEMBER, 5_000, 7, 10);

	private static final Introduction MEMBER_THAT_KNOWS_ANOTHER_DISK = said(State.MEMBER, 5_000, 8, 20);

	@Test
	void anEmptyDiskDoesNotVoteBeforeAllOthersHaveSpoken() {
		assertThat(ofNew()).isEqualTo(State.NEW);
		assertThat(ofNew(NEW_ONE)).isEqualTo(State.NEW);
		assertThat(ofNew(MEMBER_THAT_KNOWS_NOTHING)).isEqualTo(State.NEW);
	}

	@Test
	void whereAllDisksAreEmptyTheClusterIsNew() {
		assertThat(ofNew(NEW_ONE, NEW_ONE)).isEqualTo(State.READY);
		assertThat(ofNew(READY_ONE, NEW_ONE)).isEqualTo(State.READY);
	}

	@Test
	void noNodeIsAMemberOfANewClusterBeforeAllKnowThatItIsNew() {
		assertThat(decide(State.READY, 0, READY_ONE, NEW_ONE)).isEqualTo(State.READY);
		assertThat(decide(State.READY, 0, READY_ONE)).isEqualTo(State.READY);
		assertThat(decide(State.READY, 0, READY_ONE, READY_ONE)).isEqualTo(State.MEMBER);
		assertThat(decide(State.READY, 0, READY_ONE, MEMBER_THAT_KNOWS_NOTHING)).isEqualTo(State.MEMBER);
	}

	@Test
	void anEmptyDiskWhereAnotherOneIsRememberedHasBeenLost() {
		assertThat(ofNew(MEMBER_THAT_KNOWS_ANOTHER_DISK)).isEqualTo(State.LOST_DISK);
		assertThat(ofNew(NEW_ONE, MEMBER_THAT_KNOWS_ANOTHER_DISK)).isEqualTo(State.LOST_DISK);
		assertThat(decide(State.READY, 0, READY_ONE, MEMBER_THAT_KNOWS_ANOTHER_DISK))
			.as("it was about to begin another cluster")
			.isEqualTo(State.LOST_DISK);
	}

	@Test
	void anEmptyDiskThatNoMemberRemembersIsThatOfANewcomer() {
		assertThat(ofNew(MEMBER_THAT_KNOWS_NOTHING, MEMBER_THAT_KNOWS_NOTHING)).isEqualTo(State.NEWCOMER);
		assertThat(ofNew(MEMBER_THAT_KNOWS_NOTHING, NEW_ONE)).isEqualTo(State.NEWCOMER);
	}

	@Test
	void aMemberStaysOneUnlessALaterDiskIsRemembered() {
		assertThat(decide(State.MEMBER, 10)).isEqualTo(State.MEMBER);
		assertThat(decide(State.MEMBER, 10, MEMBER_THAT_KNOWS_THIS_DISK)).isEqualTo(State.MEMBER);
		assertThat(decide(State.MEMBER, 10, MEMBER_THAT_KNOWS_NOTHING)).isEqualTo(State.MEMBER);
		assertThat(decide(State.MEMBER, 10, MEMBER_THAT_KNOWS_ANOTHER_DISK)).as("an old disk was put back")
			.isEqualTo(State.STALE_DISK);
		assertThat(decide(State.MEMBER, 30, MEMBER_THAT_KNOWS_ANOTHER_DISK)).as("the other one was away meanwhile")
			.isEqualTo(State.MEMBER);
	}

	@Test
	void aNodeToBeRebuiltStaysSoWhateverIntroductionsCome() {
		for (State state : List.of(State.LOST_DISK, State.NEWCOMER, State.AWAY_TOO_LONG, State.STALE_DISK)) {
			assertThat(decide(state, 0, MEMBER_THAT_KNOWS_NOTHING, MEMBER_THAT_KNOWS_THIS_DISK)).isEqualTo(state);
		}
	}

	@Test
	void noNodeOfARestoredClusterIsAMemberBeforeAllKnowThatAllWereRestored() {
		assertThat(decide(State.RESTORED, 0, RESTORED_ONE)).isEqualTo(State.RESTORED);
		assertThat(decide(State.RESTORED, 0, RESTORED_ONE, RESTORED_ONE)).isEqualTo(State.REUNITED);
		assertThat(decide(State.RESTORED, 0, REUNITED_ONE, RESTORED_ONE)).isEqualTo(State.REUNITED);
		assertThat(decide(State.REUNITED, 0, REUNITED_ONE, RESTORED_ONE)).isEqualTo(State.REUNITED);
		assertThat(decide(State.REUNITED, 0, REUNITED_ONE)).isEqualTo(State.REUNITED);
		assertThat(decide(State.REUNITED, 0, REUNITED_ONE, REUNITED_ONE)).isEqualTo(State.MEMBER);
		assertThat(decide(State.REUNITED, 0, REUNITED_ONE, MEMBER_THAT_KNOWS_NOTHING)).isEqualTo(State.MEMBER);
	}

	@Test
	void aNodeThatIsRestoredAloneHasAStaleDisk() {
		assertThat(decide(State.RESTORED, 0, MEMBER_THAT_KNOWS_ANOTHER_DISK)).isEqualTo(State.STALE_DISK);
		assertThat(decide(State.RESTORED, 0, RESTORED_ONE, MEMBER_THAT_KNOWS_NOTHING)).isEqualTo(State.STALE_DISK);
		for (State state : List.of(State.NEW, State.LOST_DISK, State.AWAY_TOO_LONG, State.STALE_DISK)) {
			assertThat(decide(State.RESTORED, 0, RESTORED_ONE, said(state, 0, 0, 0)))
				.as("waits for one that is %s", state)
				.isEqualTo(State.RESTORED);
		}
	}

	@Test
	void aNodeOfARestoredClusterThatHadNoBackupIsNewThere() {
		Introduction blank = said(State.NEWCOMER, 0, 0, 0);

		assertThat(ofNew(RESTORED_ONE, RESTORED_ONE)).isEqualTo(State.NEWCOMER);
		assertThat(decide(State.RESTORED, 0, RESTORED_ONE, blank)).isEqualTo(State.REUNITED);
		assertThat(decide(State.REUNITED, 0, REUNITED_ONE, blank)).isEqualTo(State.MEMBER);
	}

	@Test
	void aNodeWhoseBackupIsTooOldIsRebuiltFromAllOthers() {
		assertThat(ofRestored(2_000, madeAt(3_000), madeAt(2_500))).isEqualTo(State.REUNITED);
		assertThat(ofRestored(2_000, madeAt(3_001), madeAt(2_001))).isEqualTo(State.STALE_DISK);
		assertThat(ofRestored(2_000, madeAt(3_001), said(State.REUNITED, 2_500, 0, 0))).isEqualTo(State.STALE_DISK);
		assertThat(ofRestored(2_000, madeAt(3_001))).as("another one may be old too, or a member")
			.isEqualTo(State.RESTORED);
		assertThat(ofRestored(3_001, madeAt(2_000), madeAt(3_000))).as("the one that is older is another one")
			.isEqualTo(State.REUNITED);
	}

	@Test
	void noNodeIsRebuiltIfAnotherOneIsTooOldOrMissingToo() {
		Introduction old = new Introduction(1, 1, new Membership(State.STALE_DISK, 0), 2_500, 0, 0, 0);

		assertThat(ofRestored(2_000, madeAt(4_000), madeAt(2_999))).isEqualTo(State.REUNITED);
		assertThat(ofRestored(2_999, madeAt(4_000), madeAt(2_000))).isEqualTo(State.REUNITED);
		assertThat(ofRestored(2_000, madeAt(4_000), said(State.NEWCOMER, 4_000, 0, 0))).isEqualTo(State.REUNITED);
		assertThat(ofRestored(2_000, madeAt(4_000), old)).isEqualTo(State.REUNITED);
	}

	@Test
	void theOthersGoOnWithoutOneWhoseBackupIsTooOld() {
		Introduction tooOld = new Introduction(1, 1, new Membership(State.STALE_DISK, 0), 10, 0, 0, 0);

		assertThat(decide(State.RESTORED, 0, RESTORED_ONE, tooOld)).isEqualTo(State.REUNITED);
		assertThat(decide(State.REUNITED, 0, REUNITED_ONE, tooOld)).isEqualTo(State.MEMBER);
	}

	@Test
	void aNodeInQuarantineIsNotWaitedForOnceAllKnowThatAllWereRestored() {
		for (State state : List.of(State.NEWCOMER, State.LOST_DISK, State.AWAY_TOO_LONG, State.STALE_DISK)) {
			assertThat(decide(State.REUNITED, 0, REUNITED_ONE, said(state, 0, 0, 0))).as("%s", state)
				.isEqualTo(State.MEMBER);
		}
		for (State state : List.of(State.NEW, State.READY, State.RESTORED)) {
			assertThat(decide(State.REUNITED, 0, REUNITED_ONE, said(state, 0, 0, 0))).as("%s", state)
				.isEqualTo(State.REUNITED);
		}
	}

	@Test
	void theRecordsOfANodeThatIsRestoredAloneSayThatItsDiskIsStale() {
		byte[] member = new Membership(State.MEMBER, 5).toBytes();
		Map<String, byte[]> recorded = Map.of("membership", member, "disk of b", new byte[] { 1 }, "repaired b",
				new byte[] { 2 });

		Map<String, byte[]> alone = Restored.alone(recorded, Instant.ofEpochMilli(99));
		assertThat(Membership.of(alone.getOrDefault("membership", new byte[0])))
			.isEqualTo(new Membership(State.STALE_DISK, 5));
		assertThat(alone).containsOnlyKeys("membership", "alive", "disk of b", "repaired b");
		byte[] name = { 1, 2, 3, 4, 5, 6, 7, 8 };
		Map<String, byte[]> together = Restored.withAllOthers(Map.of("cluster", name, "disk of b", new byte[] { 1 }),
				Map.of("layout", new byte[] { 2 }), Instant.ofEpochMilli(99));
		assertThat(Membership.of(together.getOrDefault("membership", new byte[0])).state()).isEqualTo(State.RESTORED);
		assertThat(together).as("neither disks nor repairs of a life that nobody remembers")
			.containsOnlyKeys("membership", "alive", "layout", "cluster")
			.containsEntry("cluster", name);
	}

	@Test
	void aLongAbsenceCountsIfAnotherNodeWasThere() {
		AdmissionRule admission = new AdmissionRule(new Membership(State.MEMBER, 1), 7, 2_000, 2, MOST_AWAY);

		assertThat(admission.mayHaveBeenAwayTooLong(3_000)).isFalse();
		assertThat(admission.mayHaveBeenAwayTooLong(3_001)).isTrue();
		assertThat(admission.decideAbsence(List.of())).as("nobody has spoken").isEqualTo(State.NEW);
		assertThat(admission.decideAbsence(List.of(lastAlive(3_000))))
			.as("two of three were away: nobody has collected anything")
			.isEqualTo(State.MEMBER);
		AdmissionRule ofFour = new AdmissionRule(new Membership(State.MEMBER, 1), 7, 2_000, 3, MOST_AWAY);
		assertThat(ofFour.decideAbsence(List.of(lastAlive(3_000)))).as("two of four").isEqualTo(State.NEW);
		assertThat(ofFour.decideAbsence(List.of(lastAlive(3_000), lastAlive(2_500)))).isEqualTo(State.MEMBER);
		assertThat(admission.decideAbsence(List.of(lastAlive(3_001)))).isEqualTo(State.AWAY_TOO_LONG);
	}

	@Test
	void aDiskThatEndsBeforeOthersSawTheNodeAliveIsAnOlderCopy() {
		AdmissionRule admission = new AdmissionRule(new Membership(State.MEMBER, 1), 7, 100_000, 2, MOST_AWAY);

		assertThat(List.of(sawAlive(0), sawAlive(100_000), sawAlive(160_000)))
			.noneMatch(told -> admission.wasSeenAfter(100_000, told));
		assertThat(admission.wasSeenAfter(100_000, sawAlive(160_001))).isTrue();
		assertThat(admission.wasSeenAfter(100_000, sawAlive(-160_001))).isTrue();
		assertThat(admission.wasSeenAfter(100_001, sawAlive(160_001))).as("its clock was set back").isFalse();
	}

	@Test
	void disksOfThoseAreRememberedThatAreNoMembersYet() {
		AdmissionRule member = new AdmissionRule(new Membership(State.MEMBER, 1), 7, 0, 2, MOST_AWAY);
		Introduction neverAMember = new Introduction(1, 1, new Membership(State.UNSYNCED, 0), 0, 0, 0, 0);

		assertThat(List.of(NEW_ONE, READY_ONE, REUNITED_ONE, neverAMember)).allMatch(member::remembersNonMember);
		assertThat(List.of(RESTORED_ONE, said(State.UNSYNCED, 0, 0, 0), MEMBER_THAT_KNOWS_NOTHING))
			.noneMatch(member::remembersNonMember);
		AdmissionRule ready = new AdmissionRule(new Membership(State.READY, 0), 7, 0, 2, MOST_AWAY);
		assertThat(ready.remembersNonMember(NEW_ONE)).isFalse();
	}

	@Test
	void introductionsAreReadAsTheyWereWritten() {
		Introduction introduction = new Introduction(2, -5, new Membership(State.LOST_DISK, 99), 3, Long.MIN_VALUE, 4,
				5);

		assertThat(Introduction.of(introduction.toQuery())).isEqualTo(introduction);
	}

	private static State ofNew(Introduction... said) {
		return decide(State.NEW, 0, said);
	}

	private static State decide(State own, long admittedMillis, Introduction... said) {
		return new AdmissionRule(new Membership(own, admittedMillis), 7, 0, 2, MOST_AWAY).decide(List.of(said));
	}

	private static State ofRestored(long madeMillis, Introduction... said) {
		return new AdmissionRule(new Membership(State.RESTORED, 0), 7, madeMillis, 2, MOST_AWAY).decide(List.of(said));
	}

	private static Introduction madeAt(long millis) {
		return said(State.RESTORED, millis, 0, 0);
	}

	@Test
	void thePresentDiskIsAnOlderCopyIfAnEarlierLifeWentOnBehindIt() {
		AdmissionRule admission = new AdmissionRule(new Membership(State.MEMBER, 5), 7, 100_000, 2, 1_000);
		assertThat(remembers(admission, 7, 160_001, 200_000)).isTrue();
		assertThat(remembers(admission, 7, 160_000, 200_000)).as("within the margin").isFalse();
		assertThat(remembers(admission, 7, 160_001, 160_001)).as("of this life").isFalse();
		assertThat(remembers(admission, 8, 160_001, 200_000)).as("another disk").isFalse();
		AdmissionRule ahead = new AdmissionRule(new Membership(State.MEMBER, 160_000), 7, 100_000, 2, 1_000);
		assertThat(remembers(ahead, 7, 160_001, 200_000)).as("admitted ahead of its clock").isFalse();
		AdmissionRule unknown = new AdmissionRule(new Membership(State.NEW, 0), 7, 100_000, 2, 1_000);
		assertThat(remembers(unknown, 7, 160_001, 200_000)).as("no member").isFalse();
	}

	private static boolean remembers(AdmissionRule admission, long disk, long millis, long startedMillis) {
		return admission.remembersLaterLife(100_000, startedMillis,
				new Introduction(1, 1, new Membership(State.MEMBER, 1), 0, disk, millis, 0));
	}

	private static Introduction said(State state, long aliveMillis, long remembered, long rememberedMillis) {
		return new Introduction(1, 1, new Membership(state, 1), aliveMillis, remembered, rememberedMillis, 0);
	}

	private static Introduction lastAlive(long millis) {
		return said(State.MEMBER, millis, 0, 0);
	}

	private static Introduction sawAlive(long millis) {
		return new Introduction(1, 1, new Membership(State.MEMBER, 1), 0, 0, 0, millis);
	}

}
