package io.kvorum.convergence.quarantine;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.quarantine.Membership.State;
import io.kvorum.convergence.quarantine.QuarantinedNodes.Disk;
import io.kvorum.convergence.quarantine.QuarantinedNodes.Node;
import io.kvorum.kv.Version;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** Three nodes: which of them may vote, and when. */
@ExtendWith(OutputCaptureExtension.class)
class QuarantineTests {

	private static final long NOW = SteeredTime.START_MILLIS;

	private static final Duration MOMENT = Duration.ofMillis(100);

	private static final Duration LONG = Duration.ofSeconds(20);

	/** The run of the system of nodes that do not sync before they acknowledge. */
	private final SystemBoot os = new SystemBoot("one", true);

	private final SystemBoot osAgain = new SystemBoot("another", true);

	private final QuarantinedNodes nodes = new QuarantinedNodes();

	private final Node first = this.nodes.node(0);

	private final Node second = this.nodes.node(1);

	private final Node third = this.nodes.node(2);

	@Test
	void membersThatStartTogetherVoteInAMoment() {
		this.nodes.nodes.forEach(node -> node.asMember().start());
		this.nodes.pass(MOMENT.multipliedBy(3));

		assertThat(this.nodes.nodes).allMatch(Node::mayVote);
	}

	@Test
	void aMemberThatStartsAloneVotesOnceOthersHaveHadTimeToObject() {
		this.first.asMember().start();
		this.nodes.pass(Duration.ofMillis(1_900));
		assertThat(this.first.mayVote()).isFalse();

		this.nodes.pass(MOMENT.multipliedBy(3));
		assertThat(this.first.mayVote()).isTrue();
	}

	@Test
	void aNewNodeWithoutOthersListensBeforeItIsAClusterOfOne() {
		QuarantinedNodes one = new QuarantinedNodes("http://a:1");
		one.node(0).start();
		one.pass(QuarantinedNodes.FOUNDING_TIME.minus(MOMENT));
		assertThat(one.node(0).state()).isEqualTo(State.NEW);
		assertThat(one.node(0).hasVoted).isFalse();

		one.pass(MOMENT.multipliedBy(4));
		assertThat(one.node(0).mayVote()).isTrue();

		one.node(0).start();
		one.pass(MOMENT.multipliedBy(2));
		assertThat(one.node(0).mayVote()).as("it was one before").isTrue();
	}

	/** There is no other node that it could be rebuilt from. */
	@Test
	void aClusterOfOneWhoseMachineEndedGoesOn() {
		QuarantinedNodes one = new QuarantinedNodes("http://a:1");
		one.node(0).start(this.os);
		one.pass(LONG);
		one.node(0).start(this.osAgain);
		one.pass(LONG);

		assertThat(one.node(0).state()).isEqualTo(State.MEMBER);
		assertThat(one.node(0).mayVote()).isTrue();
	}

	@Test
	void aMemberThatLearnsThatItsDiskIsOldVotesNoMoreAndRemembersThat() {
		this.nodes.nodes.forEach(node -> node.asMember().start());
		this.nodes.pass(MOMENT.multipliedBy(3));
		this.second.pause();
		this.third.pause();

		Now.of(this.first.nodeState().becomeStale());
		assertThat(this.first.mayVote()).isFalse();
		this.first.start();
		this.nodes.pass(LONG);
		assertThat(this.first.state()).isEqualTo(State.STALE_DISK);
		assertThat(this.first.hasVoted).isFalse();
	}

	@Test
	void aNodeThatLearnsThatItsDiskIsOldWhileItBeginsAClusterOfOneNeverVotes() {
		QuarantinedNodes one = new QuarantinedNodes("http://a:1");
		one.node(0).start();
		one.pass(QuarantinedNodes.FOUNDING_TIME.minus(MOMENT));
		Now.of(one.node(0).nodeState().becomeStale());
		one.pass(LONG);
		assertThat(one.node(0).state()).isEqualTo(State.STALE_DISK);
		assertThat(one.node(0).hasVoted).isFalse();
	}

	@Test
	void whatIsLearntWhileAMembershipIsRecordedIsNotForgotten() {
		this.first.start();
		Mono<Void> admission = this.first.nodeState().become(State.MEMBER);
		this.first.disk.meanwhile = () -> Now.of(this.first.nodeState().becomeStale());
		Now.of(admission);
		this.nodes.pass(MOMENT);
		assertThat(this.first.state()).isEqualTo(State.STALE_DISK);
		assertThat(this.first.mayVote()).isFalse();
	}

	@Test
	void theTimeThatOthersHaveToObjectDoesNotBeginBeforeTheNodeAsksThem() {
		this.first.asMember().make(SystemBoot.SYNCED);
		this.nodes.pass(LONG);
		this.first.run();
		this.nodes.pass(Duration.ofMillis(1_900));
		assertThat(this.first.hasVoted).isFalse();

		this.nodes.pass(MOMENT.multipliedBy(3));
		assertThat(this.first.mayVote()).isTrue();
	}

	@Test
	void aDiskThatAPeerRemembersAsReplacedNeverVotesThoughThatPeerConnectsLater() {
		this.first.withDisk(1, 10, NOW).start();
		this.nodes.pass(MOMENT.multipliedBy(3));
		this.second.asMember().remembering(this.first, 9, 20).start();
		this.nodes.pass(LONG);

		assertThat(this.first.state()).isEqualTo(State.STALE_DISK);
		assertThat(this.first.hasVoted).isFalse();
	}

	@Test
	void aRebuildBeginsWhenWhatWasUnderWayAtTheStartHasEnded() {
		this.second.asMember().remembering(this.first, 9, 20).start();
		this.third.asMember().remembering(this.first, 9, 20).start();
		this.first.start();
		this.nodes.pass(QuarantinedNodes.SETTLING_TIME.minus(MOMENT));
		assertThat(this.first.state()).isEqualTo(State.LOST_DISK);
		assertThat(this.first.rebuiltFrom).isEmpty();

		this.nodes.pass(MOMENT.multipliedBy(3));
		assertThat(this.first.rebuiltFrom).isNotEmpty();
	}

	@Test
	void onlyAStaleDiskUndoesWhatTheOthersHaveInAnOlderVersionAndGivesUpItsHints() {
		this.first.withDisk(1, 10, NOW).start();
		this.second.asMember().remembering(this.first, 9, 20).start();
		this.third.withRecords(new Membership(State.LOST_DISK, 0), NOW).start();
		this.nodes.pass(LONG);
		assertThat(this.first.undoneBeforeMillis).as("it waits for the third one").isZero();
		this.nodes.time.pass(Duration.ofHours(1));
		this.first.start();
		this.third.asMember().start();
		this.nodes.pass(LONG);
		assertThat(this.first.state()).isEqualTo(State.MEMBER);
		assertThat(this.first.undoneBeforeMillis).as("the end of its last life as a member")
			.isEqualTo(NOW + Duration.ofMinutes(1).toMillis());
		assertThat(this.first.hintRemovals).isEqualTo(1);

		this.second.withRecords(new Membership(State.LOST_DISK, 0), NOW).start();
		this.nodes.pass(LONG);
		assertThat(this.second.rebuiltFrom).isNotEmpty();
		assertThat(this.second.undoneBeforeMillis).isZero();
		assertThat(this.second.hintRemovals).isZero();
		this.third.withRecords(new Membership(State.AWAY_TOO_LONG, 1), NOW).start();
		this.nodes.pass(LONG);
		assertThat(this.third.rebuiltFrom).isNotEmpty();
		assertThat(this.third.undoneBeforeMillis).isZero();
		assertThat(this.third.hintRemovals).isZero();
	}

	@Test
	void aCopyOfADiskIsFoundByTheFirstIntroductionOfAPeerHoweverLate() {
		this.nodes.nodes.forEach(node -> node.asMember().start());
		this.nodes.pass(Duration.ofMinutes(3));
		this.first.withDisk(1, 1, NOW);
		this.first.stop();
		this.second.pause();
		this.third.pause();
		this.first.start();
		this.nodes.pass(LONG);
		assertThat(this.first.mayVote()).as("no peer can object").isTrue();

		this.second.resume();
		this.nodes.pass(MOMENT);
		assertThat(this.first.mayVote()).isFalse();
		assertThat(this.first.state()).isEqualTo(State.STALE_DISK);
	}

	@Test
	void aCopyOfADiskIsFoundThoughAllOthersHaveRestartedSince() {
		this.nodes.nodes.forEach(node -> node.asMember().start());
		this.nodes.pass(LONG);
		for (int i = 0; i < 10; i++) {
			this.nodes.time.pass(Duration.ofMinutes(1));
			this.nodes.pass(LONG);
		}
		this.nodes.nodes.forEach(Node::stop);
		this.nodes.nodes.forEach(Node::start);
		this.nodes.pass(LONG);
		assertThat(this.nodes.nodes).as("each has its own disk").allMatch(Node::mayVote);

		this.nodes.nodes.forEach(Node::stop);
		this.first.withRecords(new Membership(State.MEMBER, 1), NOW);
		this.nodes.nodes.forEach(Node::start);
		this.nodes.pass(MOMENT.multipliedBy(3));
		assertThat(this.first.state()).isEqualTo(State.STALE_DISK);
		assertThat(this.first.hasVoted).isFalse();
		assertThat(this.second.mayVote()).isTrue();
		this.nodes.pass(LONG);
		assertThat(this.first.state()).as("it is rebuilt").isEqualTo(State.MEMBER);
	}

	@Test
	void aPeerThatIsNotKnownYetIsHurriedAloneUnlessItHasAnotherTopology() {
		this.third.loseMessages();
		this.nodes.nodes.forEach(node -> node.asMember().start());
		this.nodes.pass(LONG);
		assertThat(this.first.mayVote()).isTrue();

		this.first.introductions.clear();
		this.nodes.pass(LONG);
		assertThat(this.first.introductions.get(this.second)).as("of 5 s each").isBetween(3, 5);
		assertThat(this.first.introductions.get(this.third)).as("of 50 ms each").isBetween(300, 400);

		this.third.hasOtherTopology = true;
		this.first.introductions.clear();
		this.nodes.pass(LONG);
		assertThat(this.first.introductions.get(this.third)).as("of 5 s each").isBetween(3, 5);
	}

	@Test
	void aNodeThatIsAddedWaitsForThoseWithALaterLayoutAndForNoneWithAnEarlierOne() {
		QuarantinedNodes nodes = new QuarantinedNodes(Topology.changing(Topology.of(List.of("http://c:1"), 1),
				Topology.of(List.of("http://a:1", "http://b:1"), 2)));
		Node added = nodes.node("http://a:1");
		Node other = nodes.node("http://b:1").asMember().start();
		other.remembering(added, 99, 1).loseMessages();
		other.hasOtherTopology = true;
		added.start();
		nodes.pass(LONG);
		assertThat(added.mayVote()).as("it may have lost its disk").isFalse();

		other.keepMessages();
		nodes.pass(LONG);
		assertThat(added.rebuiltFrom).as("it had lost its disk").hasSize(1);

		Node empty = nodes.node("http://a:1");
		empty.disk = new QuarantinedNodes.Disk(7);
		other.loseMessages();
		other.isBehind = true;
		empty.start();
		nodes.pass(LONG);
		assertThat(empty.mayVote()).as("the other one does not know it").isTrue();
	}

	@Test
	void aDiskThatIsFoundStaleMayHaveLostPromisesAtOnce() {
		this.first.asMember().make(SystemBoot.SYNCED);
		this.second.asMember().remembering(this.first, 99, NOW).make(SystemBoot.SYNCED);
		assertThat(this.first.nodeState().floor()).isEqualTo(Version.ABSENT);

		Now.of(this.first.nodeState().receive(this.second.member(), this.second.introductionTo(this.first)));
		assertThat(this.first.state()).as("that is not recorded yet").isEqualTo(State.MEMBER);
		assertThat(this.first.nodeState().floor().isNewerThan(Version.ABSENT)).isTrue();
	}

	@Test
	void aNodeThatIsAddedIsRebuiltFromThoseThatStayIfOneThatLeavesIsDead() {
		QuarantinedNodes nodes = new QuarantinedNodes(Topology.changing(Topology.of(List.of("http://c:1"), 1),
				Topology.of(List.of("http://a:1", "http://b:1"), 2)));
		Node added = nodes.node("http://a:1");
		Node stays = nodes.node("http://b:1");
		stays.asMember().remembering(added, 99, 1);
		added.start();
		nodes.pass(LONG);
		assertThat(added.mayVote()).as("another one is missing").isFalse();

		stays.start();
		nodes.pass(LONG);
		assertThat(added.mayVote()).isTrue();
		assertThat(added.rebuiltFrom).extracting(Member::address).containsExactly("http://b:1");
	}

	@Test
	void anIntroductionThatRepeatsThisLifeSaysNothingOfAnEarlierOne() {
		this.second.asMember().start();
		this.third.asMember().start();
		this.first.withDisk(1, 1, NOW - Duration.ofHours(1).toMillis()).start();
		this.second.pause();
		this.third.pause();
		this.nodes.pass(LONG);
		assertThat(this.first.mayVote()).isTrue();

		this.second.loseMessages();
		this.second.resume();
		this.nodes.pass(Duration.ofSeconds(7));
		this.second.keepMessages();
		this.nodes.pass(LONG);
		assertThat(this.first.state()).isEqualTo(State.MEMBER);
		assertThat(this.first.mayVote()).isTrue();
	}

	@ParameterizedTest(name = "{0} ms")
	@ValueSource(ints = { 30, 200, 10_000 })
	void aCopyOfADiskIsFoundOutThoughTheFirstAnswersOfAPeerAreLost(int lossMillis) {
		this.nodes.nodes.forEach(node -> node.asMember().start());
		this.nodes.pass(Duration.ofMinutes(3));
		this.first.withDisk(1, 1, NOW);
		this.third.pause();
		this.second.loseMessages();
		this.first.start();
		this.nodes.pass(Duration.ofMillis(lossMillis));
		this.second.keepMessages();
		this.nodes.pass(LONG);

		assertThat(this.first.state()).isEqualTo(State.STALE_DISK);
		assertThat(this.first.mayVote()).isFalse();
	}

	@Test
	void aClockThatIsSetBackMakesNoDiskAnOldOneWhateverAnswersAreLost() {
		startAll(SystemBoot.SYNCED);
		this.second.loseMessages();
		this.third.pause();
		this.first.start();
		this.nodes.pass(LONG);
		this.nodes.time.jump(Duration.ofHours(-1));
		this.nodes.pass(LONG);
		this.first.start();
		this.nodes.pass(MOMENT);
		this.second.keepMessages();
		this.third.resume();
		this.nodes.pass(LONG);

		assertThat(this.first.rebuiltFrom).isEmpty();
		assertThat(this.first.state()).isEqualTo(State.MEMBER);
		assertThat(this.first.mayVote()).isTrue();
	}

	@Test
	void aClockThatIsSetBackWhileAPeerIsAwayMakesNoDiskAnOldOne() {
		startAll(SystemBoot.SYNCED);
		this.second.pause();
		this.nodes.time.jump(Duration.ofHours(-1));
		this.nodes.pass(LONG);
		this.first.start();
		this.second.resume();
		this.nodes.pass(LONG);

		assertThat(this.first.rebuiltFrom).isEmpty();
		assertThat(this.first.state()).isEqualTo(State.MEMBER);
		assertThat(this.first.mayVote()).isTrue();
	}

	@Test
	void anIntroductionFromBeforeAClockWasSetBackSaysNothingOfAnEarlierLife() {
		this.first.withDisk(1, 1, NOW - Duration.ofDays(1).toMillis()).start();
		this.nodes.pass(LONG);
		this.nodes.time.jump(Duration.ofHours(-1));
		this.nodes.pass(LONG);
		this.second.asMember().loseMessages();
		this.second.start();
		this.nodes.pass(LONG);
		this.second.keepMessages();
		this.nodes.pass(LONG);

		assertThat(this.first.rebuiltFrom).isEmpty();
		assertThat(this.first.state()).isEqualTo(State.MEMBER);
		assertThat(this.first.mayVote()).isTrue();
	}

	@Test
	void aNodeKnowsWhichOthersWereRunningBeforeIt() {
		for (int i = 0; i < 2; i++) {
			List.of(this.first, this.second, this.third).forEach(Node::stop);
			startAll(SystemBoot.SYNCED);
			assertThat(this.first.wasAfter(this.second)).as("all have started together").isFalse();
			assertThat(this.second.wasAfter(this.first)).isFalse();
		}
		this.first.start();
		this.nodes.pass(LONG);

		assertThat(this.first.wasAfter(this.second)).isTrue();
		assertThat(this.first.wasAfter(this.third)).isTrue();
		assertThat(this.second.wasAfter(this.first)).isFalse();

		this.second.start();
		this.nodes.pass(LONG);
		assertThat(this.first.wasAfter(this.second)).as("it has restarted too").isFalse();
		assertThat(this.first.wasAfter(this.third)).isTrue();
	}

	@Test
	void aNewNodeTakesAllOthersForRunningBefore() {
		this.second.asMember().start();
		this.third.asMember().start();
		this.first.start();
		this.nodes.pass(LONG);
		assertThat(this.first.state()).isEqualTo(State.MEMBER);
		assertThat(this.first.wasAfter(this.second)).isTrue();
	}

	@ParameterizedTest(name = "{0} ms")
	@ValueSource(ints = { 30, 10_000 })
	void thatAPeerHasRestartedIsNoticedThoughItsFirstAnswersAreLost(int lossMillis) {
		startAll(SystemBoot.SYNCED);
		this.first.restartsOfPeers = 0;
		this.second.loseMessages();
		this.second.start();
		// The first node introduces itself to it in the next round.
		this.nodes.pass(Duration.ofSeconds(6).plusMillis(lossMillis));
		assertThat(this.first.restartsOfPeers).isZero();
		this.second.keepMessages();
		this.nodes.pass(LONG);
		assertThat(this.first.restartsOfPeers).isPositive();

		this.first.restartsOfPeers = 0;
		this.nodes.pass(LONG);
		assertThat(this.first.restartsOfPeers).as("it is in one life").isZero();
	}

	@Test
	void aPeerThatReachesNoNodeIsNotTakenForOneThatRestartsAgainAndAgain() {
		startAll(SystemBoot.SYNCED);
		this.second.loseQueries();
		this.second.start();
		this.nodes.pass(Duration.ofMinutes(2));
		assertThat(this.second.mayVote()).isTrue();
		this.first.restartsOfPeers = 0;
		this.nodes.pass(LONG);

		assertThat(this.first.restartsOfPeers).isZero();
	}

	@Test
	void theInstantThatAnIntroductionTellsIsOnDisk() {
		this.nodes.nodes.forEach(node -> node.asMember().start());
		this.nodes.pass(LONG);
		this.first.refuseRecords();
		this.nodes.pass(Duration.ofMinutes(3));

		this.first.start();
		this.nodes.pass(LONG);
		assertThat(this.first.state()).isEqualTo(State.MEMBER);
		assertThat(this.first.mayVote()).isTrue();
	}

	@Test
	void aNodeThatCannotRememberTheDiskOfAPeerGoesOnAndDoesNotKnowIt(CapturedOutput output) {
		this.first.asMember().remembering(this.third, 3, 1).start();
		this.second.asMember().remembering(this.third, 3, 1).start();
		this.nodes.pass(LONG);
		this.third.withDisk(9, 20, this.nodes.time.millis());
		this.first.refuseRecordsOf(this.third);
		this.first.start();
		this.third.start();
		this.nodes.pass(Duration.ofSeconds(1));
		assertThat(this.first.mayVote()).as("it does not know the third one").isFalse();

		this.nodes.pass(LONG);
		assertThat(this.first.mayVote()).isTrue();
		assertThat(this.first.knows(this.third)).isFalse();
		assertThat(this.first.notedMillis()).isGreaterThan(this.nodes.time.millis() - 10_000);
		assertThat(output.getOut().lines().filter(line -> line.contains("Could not exchange introductions")))
			.hasSize(1);

		this.first.takeRecords();
		this.nodes.pass(LONG);
		assertThat(this.first.knows(this.third)).isTrue();
	}

	@Test
	void whatANodeAcknowledgesIsNotLostWithItsMachineWhereItIsSynced() {
		this.first.asMember().start().start(new SystemBoot("another", false));
		this.nodes.pass(LONG);

		assertThat(this.first.mayVote()).isTrue();
	}

	@Test
	void aNodeWhoseMachineEndedMayLackWhatItAcknowledgedAndIsRebuiltFromAllOthers() {
		startAll(this.os);
		this.second.stop();
		this.first.start(this.osAgain);
		assertThat(this.first.state()).isEqualTo(State.UNSYNCED);
		this.nodes.pass(LONG);
		assertThat(this.first.hasVoted).isFalse();
		assertThat(this.first.withheldBecause())
			.contains("its machine ended before all that it had acknowledged was synced", "waits for [http://b:1]");

		this.second.start(this.os);
		this.nodes.pass(LONG);
		assertThat(this.first.mayVote()).isTrue();
		assertThat(this.first.rebuiltFrom).hasSize(2);
	}

	@Test
	void anEntryThatNoNodeCanReadKeepsANodeInQuarantineUntilItIsThere() {
		startAll(SystemBoot.SYNCED);
		this.first.disk = new Disk(99);
		this.first.unreadable = new TreeSet<>(List.of(5, 7));
		this.first.start();
		this.nodes.pass(LONG);
		assertThat(this.first.hasVoted).isFalse();
		assertThat(this.first.state()).isEqualTo(State.LOST_DISK);
		assertThat(this.first.withheldBecause())
			.contains("0 of 64 parts are rebuilt: entries in the partitions [5, 7] cannot be read");

		this.first.unreadable = Collections.emptySortedSet();
		this.nodes.pass(LONG);
		assertThat(this.first.mayVote()).isTrue();
	}

	@Test
	void aRebuildGoesOnWhereAnAttemptHasFailed() {
		startAll(SystemBoot.SYNCED);
		this.first.disk = new Disk(99);
		this.first.failsEach = 50;
		this.first.start();
		this.nodes.pass(LONG);

		assertThat(this.first.mayVote()).isTrue();
		assertThat(this.first.promiseCopies).isOne();
	}

	@Test
	void nodesWhoseMachinesEndedTogetherAreRebuiltFromOneAnotherWithoutAnOperator() {
		startAll(this.os);
		this.nodes.nodes.forEach(node -> node.start(this.osAgain));
		assertThat(this.nodes.nodes).extracting(Node::state).containsOnly(State.UNSYNCED);
		this.nodes.pass(LONG);

		assertThat(this.nodes.nodes).allMatch(Node::mayVote).allMatch(node -> node.rebuiltFrom.size() == 2);
	}

	@Test
	void aNodeThatHasLostItsDiskIsNotRebuiltFromOneThatIsUnsynced() {
		startAll(this.os);
		this.first.disk = new Disk(99);
		this.first.start(this.osAgain);
		this.second.start(this.osAgain);
		this.nodes.pass(LONG);

		assertThat(this.first.state()).isEqualTo(State.LOST_DISK);
		assertThat(this.first.withheldBecause()).contains("waits for [http://b:1]");
		assertThat(this.second.withheldBecause()).contains("waits for [http://a:1]");
	}

	@Test
	void aNodeThatWasAwayNamesTheNodesOfWhichOneHasToVoteAgain() {
		this.first.withRecords(new Membership(State.AWAY_TOO_LONG, 1), NOW).start();
		this.second.withRecords(new Membership(State.LOST_DISK, 0), NOW).start();
		this.third.withRecords(new Membership(State.LOST_DISK, 0), NOW).start();
		this.nodes.pass(LONG);

		assertThat(this.first.state()).isEqualTo(State.AWAY_TOO_LONG);
		assertThat(this.first.withheldBecause())
			.contains("waits for one of [http://b:1, http://c:1] to vote: all of them are to be rebuilt too");
	}

	@Test
	void nothingIsLostWithTheProcessAloneNorOnceItHasStopped() {
		startAll(this.os);
		this.first.start(this.os);
		assertThat(this.first.state()).as("the same run of the system").isEqualTo(State.MEMBER);

		Now.of(this.first.nodeState().noteStop());
		this.first.start(this.osAgain);
		assertThat(this.first.state()).isEqualTo(State.MEMBER);
		this.first.start(this.os);
		assertThat(this.first.state()).as("it has acknowledged something since").isEqualTo(State.UNSYNCED);
	}

	@Test
	void aLossOfPowerIsNotForgottenThoughTheDiskWasFullWhenItWasFound() {
		startAll(this.os);
		this.first.disk.isFull = true;
		this.first.start(this.osAgain);
		assertThat(this.first.state()).isEqualTo(State.UNSYNCED);
		this.first.disk.isFull = false;
		Now.of(this.first.nodeState().noteStop());

		this.first.start(this.osAgain);
		assertThat(this.first.state()).isEqualTo(State.UNSYNCED);
	}

	@Test
	void whereTheSystemDoesNotSayWhichRunItIsEachStartCountsAsAnotherOne() {
		SystemBoot unknown = new SystemBoot("", true);
		startAll(unknown);
		this.first.start(unknown);
		assertThat(this.first.state()).isEqualTo(State.UNSYNCED);
		this.nodes.pass(LONG);
		assertThat(this.first.mayVote()).isTrue();
	}

	@Test
	void whatWasNotSyncedInTheLastLifeIsMissedThoughThisOneSyncs() {
		startAll(this.os);
		this.first.start(new SystemBoot("another", false));
		assertThat(this.first.state()).isEqualTo(State.UNSYNCED);
		this.nodes.pass(LONG);
		assertThat(this.first.mayVote()).isTrue();

		this.first.start(new SystemBoot("a third", false));
		assertThat(this.first.state()).isEqualTo(State.MEMBER);
	}

	@Test
	void aNewNodeWhoseMachineEndsBeforeItKnowsAllOthersIsRebuilt() {
		this.first.start(this.os);
		this.nodes.pass(MOMENT);
		this.first.start(this.osAgain);
		this.nodes.pass(MOMENT);
		Now.of(this.first.nodeState().noteStop());
		this.first.start(this.osAgain);
		assertThat(this.first.state()).as("it does not know yet whether it has lost its disk").isEqualTo(State.NEW);
		this.second.start(this.os);
		this.third.start(this.os);
		this.nodes.pass(LONG);

		assertThat(this.nodes.nodes).allMatch(Node::mayVote);
		assertThat(this.first.rebuiltFrom).hasSize(2);
	}

	@Test
	void newNodesWhoseMachinesEndTogetherBecomeACluster() {
		this.nodes.nodes.forEach(Node::pause);
		this.nodes.nodes.forEach(node -> node.start(this.os));
		this.nodes.pass(MOMENT);
		this.nodes.nodes.forEach(node -> node.start(this.osAgain));
		this.nodes.nodes.forEach(Node::resume);
		this.nodes.pass(LONG);

		assertThat(this.nodes.nodes).allMatch(Node::mayVote).allMatch(node -> node.rebuiltFrom.size() == 2);
	}

	@Test
	void aNodeOfANewClusterWhoseMachineEndsBeforeItIsAMemberIsRebuilt() {
		endsBeforeItIsAMember(State.READY, 0, new Membership(State.READY, 0));
	}

	@Test
	void othersOfANewClusterGoOnThoughTheyDidNotKnowThatItIsNewWhenAMachineEnded() {
		endsBeforeItIsAMember(State.READY, 0, Membership.NEW);
	}

	@Test
	void aNodeOfARestoredClusterWhoseMachineEndsBeforeItIsAMemberIsRebuilt() {
		endsBeforeItIsAMember(State.REUNITED, NOW, new Membership(State.RESTORED, 0));
	}

	@Test
	void whatWasRestoredIsKeptThoughTheMachineEndsBeforeTheNodeIsAMember() {
		long made = NOW - QuarantinedNodes.MOST_AWAY.multipliedBy(2).toMillis();
		this.second.asMember().start(this.os);
		this.third.asMember().start(this.os);
		this.nodes.pass(LONG);
		endsBeforeItIsAMember(State.REUNITED, made, null);
		assertThat(this.first.hasLetGo).isFalse();
	}

	/** Ends the machine of the first node, which has not introduced itself yet. */
	private void endsBeforeItIsAMember(State state, long aliveMillis, @Nullable Membership others) {
		this.first.withRecords(new Membership(state, 0), aliveMillis).pause();
		this.first.start(this.os);
		this.nodes.pass(MOMENT);
		assertThat(this.first.state()).isEqualTo(state);
		this.first.start(this.osAgain);
		assertThat(this.first.state()).isEqualTo(State.UNSYNCED);
		if (others != null) {
			this.second.withRecords(others, aliveMillis).start(this.os);
			this.third.withRecords(others, aliveMillis).start(this.os);
		}
		this.first.resume();
		this.nodes.pass(LONG);

		assertThat(this.nodes.nodes).allMatch(Node::mayVote);
		assertThat(this.first.rebuiltFrom).hasSize(2);
	}

	@Test
	void machinesThatWereAwayTogetherForLongHaveNothingThatOthersHaveCollected() {
		startAll(this.os);
		this.nodes.nodes.forEach(Node::stop);
		this.nodes.time.pass(QuarantinedNodes.MOST_AWAY.multipliedBy(2));
		this.first.start(this.osAgain);
		this.nodes.pass(LONG);
		assertThat(this.first.withheldBecause()).contains("waits for what [http://b:1, http://c:1] will say");
		assertThat(this.first.answers()).isFalse();

		this.second.start(this.osAgain);
		this.third.start(this.osAgain);
		this.nodes.pass(LONG);
		assertThat(this.nodes.nodes).allMatch(Node::mayVote);
	}

	@Test
	void aNodeThatWasAwayForLongAndWhoseMachineEndedHasAStaleDisk() {
		startAll(this.os);
		this.first.stop();
		this.nodes.time.pass(QuarantinedNodes.MOST_AWAY.multipliedBy(2));
		this.nodes.pass(LONG);
		this.first.start(this.osAgain);
		this.nodes.pass(Duration.ofSeconds(1));

		assertThat(this.first.state()).isEqualTo(State.STALE_DISK);
	}

	private void startAll(SystemBoot boot) {
		this.nodes.nodes.forEach(node -> node.asMember().start(boot));
		this.nodes.pass(LONG);
		assertThat(this.nodes.nodes).allMatch(Node::mayVote);
	}

	@Test
	void aNewNodeThatLosesItsDiskHasLostSomethingThoughItNeverWasAMember() {
		this.first.asMember().start();
		this.second.asMember().start();
		this.third.start();
		this.nodes.pass(MOMENT);
		assertThat(this.third.state()).isIn(State.NEW, State.NEWCOMER);

		this.third.stop();
		this.third.disk = new Disk(99);
		this.first.stop();
		this.first.disk = new Disk(98);
		this.first.start();
		this.third.start();
		this.nodes.pass(LONG);
		assertThat(this.third.state()).as("it may have acknowledged something").isEqualTo(State.LOST_DISK);
		assertThat(this.first.state()).isEqualTo(State.LOST_DISK);
		assertThat(this.first.rebuiltFrom).as("an operator has to accept what they lost").isEmpty();
	}

	@Test
	void ofTwoNodesWithOneIdentityTheOneThatStartsLaterDoesNotVote(CapturedOutput output) {
		this.first.asMember().start();
		this.second.asMember().start();
		this.nodes.pass(LONG);
		this.third.withDisk(2, 1, this.nodes.time.millis()).start();
		this.nodes.pass(LONG);

		assertThat(this.third.hasVoted).isFalse();
		assertThat(this.third.withheldBecause()).contains("http://b:1 has the identity of http://c:1");
		assertThat(this.second.mayVote()).isTrue();
		assertThat(this.second.refused()).containsExactly(
				"http://c:1 has the identity of http://b:1: one of them has a copy of the other one's directory");
		assertThat(this.first.refused()).hasSize(1);
		assertThat(output).contains("Stop the one that has the copy, and start it with an empty directory");

		this.third.stop();
		assertThat(this.first.refused()).isEmpty();
	}

}
