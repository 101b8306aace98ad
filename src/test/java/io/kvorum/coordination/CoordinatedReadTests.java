package io.kvorum.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.kvorum.coordination.ScriptedReplica.Asked;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Version;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import io.kvorum.operation.OperationObserver;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Reads of several replicas: whom they ask, what they repair, when they answer. */
class CoordinatedReadTests {

	private static final Key KEY = Generator.key("key");

	private static final Replicas MAJORITY = new Replicas(2, 3);

	private static final Replicas ANY_ONE = new Replicas(1, 3);

	private static final Failed NOT_DONE = Failed.notDone(Reason.OVERLOADED, "full");

	private final ScriptedCluster cluster = new ScriptedCluster(3, 3);

	private final ScriptedReplica own = this.cluster.replica(0);

	private final ScriptedReplica second = this.cluster.replica(1);

	private final ScriptedReplica third = this.cluster.replica(2);

	private final Live older = ofThree(Generator.live(this.cluster.version(-10), "older"));

	private final Live newer = ofThree(Generator.live(this.cluster.version(-5), "newer"));

	private CompletableFuture<@Nullable Live> get(Replicas asked) {
		return get(asked, null);
	}

	private CompletableFuture<@Nullable Live> get(Replicas asked, @Nullable Duration timeout) {
		return this.cluster.coordinator.get(KEY, asked, timeout, OperationObserver.NONE).toFuture();
	}

	private static Reply versionOf(Live entry) {
		return new Held(entry.version(), null);
	}

	private static OperationFailedException failure(CompletableFuture<?> operation) {
		assertThat(operation).isCompletedExceptionally();
		return (OperationFailedException) operation.exceptionNow();
	}

	@Test
	void oneReplicaIsReadAndAnotherAskedForItsVersionAndTheThirdForNothing() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		assertThat(this.own.asked()).containsExactly(Asked.READ);
		assertThat(this.second.asked()).containsExactly(Asked.READ_VERSION);
		this.own.last().answer(Held.of(this.newer));
		assertThat(read).isNotDone();
		this.second.last().answer(versionOf(this.newer));

		assertThat(read).isCompletedWithValue(this.newer);
		assertThat(this.third.asked()).isEmpty();
		assertThat(this.cluster.alarms()).as("alarms left behind").isZero();
		assertThat(this.cluster.events).containsExactly("GET LINEARIZABLE REACHED");
	}

	@Test
	void whatIsExpectedToAnswerFirstIsAskedFirst() {
		this.second.isExpectedToTake(9_000);
		this.third.isExpectedToTake(3_000);
		var _ = get(MAJORITY);

		assertThat(this.third.asked()).containsExactly(Asked.READ_VERSION);
		assertThat(this.second.asked()).isEmpty();
	}

	@Test
	void aReplicaThatIsAwayIsNotAsked() {
		this.second.isAway();
		var _ = get(MAJORITY);

		assertThat(this.third.asked()).containsExactly(Asked.READ_VERSION);
		assertThat(this.second.asked()).isEmpty();
	}

	@Test
	void theThirdIsAskedWhenOneFails() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.second.last().answer(NOT_DONE);
		assertThat(this.third.asked()).containsExactly(Asked.READ_VERSION);
		this.third.last().answer(versionOf(this.newer));
		this.own.last().answer(Held.of(this.newer));

		assertThat(read).isCompletedWithValue(this.newer);
		assertThat(this.cluster.events).containsExactly("GET LINEARIZABLE REACHED");
	}

	@Test
	void aFailureThatComesAtOnceIsMadeUpForToo() {
		this.own.fails(Reason.OVERLOADED);
		var _ = get(MAJORITY);

		assertThat(this.second.asked()).containsExactly(Asked.READ_VERSION);
		assertThat(this.third.asked()).containsExactly(Asked.READ_VERSION);
	}

	@Test
	void theThirdIsAskedWhenTheAlarmGoesOffAndTheTwoThatAreFirstDecide() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.cluster.ring();
		assertThat(this.third.asked()).containsExactly(Asked.READ_VERSION);
		this.third.last().answer(versionOf(this.newer));
		this.own.last().answer(Held.of(this.newer));

		assertThat(read).isCompletedWithValue(this.newer);
		assertThat(this.cluster.events).containsExactly("hedged", "GET LINEARIZABLE REACHED");
	}

	@Test
	void afterAHedgeAFailureNeedsNobodyElse() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.cluster.ring();
		this.second.last().answer(NOT_DONE);
		this.third.last().answer(versionOf(this.newer));
		assertThat(read).isNotDone();
		this.own.last().answer(Held.of(this.newer));

		assertThat(read).isCompletedWithValue(this.newer);
		assertThat(this.third.asked()).hasSize(1);
	}

	@Test
	void amongFiveAHedgeIsOneMoreAndEachFailureIsOneMore() {
		ScriptedCluster five = new ScriptedCluster(5, 5);
		five.coordinator.get(KEY, new Replicas(2, 5), OperationObserver.NONE).subscribe();
		assertThat(askedOf(five)).containsExactly(1, 1, 0, 0, 0);
		five.ring();
		assertThat(askedOf(five)).containsExactly(1, 1, 1, 0, 0);
		five.replica(0).last().answer(NOT_DONE);
		assertThat(askedOf(five)).containsExactly(1, 1, 1, 1, 0);
		five.replica(1).last().answer(NOT_DONE);
		assertThat(askedOf(five)).containsExactly(1, 1, 1, 1, 1);
	}

	private static List<Integer> askedOf(ScriptedCluster cluster) {
		return cluster.replicas.stream().map(replica -> replica.asked().size()).toList();
	}

	@Test
	void aReadThatNeedsAllHasNoAlarm() {
		CompletableFuture<@Nullable Live> read = get(new Replicas(3, 3));
		assertThat(this.cluster.alarms()).isZero();
		this.third.last().answer(versionOf(this.newer));
		this.second.last().answer(versionOf(this.newer));
		assertThat(read).isNotDone();
		this.own.last().answer(Held.of(this.newer));

		assertThat(read).isCompletedWithValue(this.newer);
	}

	@Test
	void aReadFailsAsSoonAsTooFewAreLeft() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.own.last().answer(new Failed(Reason.UNREADABLE, "damaged", false, false));
		this.third.last().answer(Failed.unknown(Reason.TIMEOUT, "too late"));
		OperationFailedException failure = failure(read);

		assertThat(failure.kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
		assertThat(failure.mayHaveHappened()).isFalse();
		assertThat(failure.mayRetry()).isTrue();
		assertThat(failure.replicas()).containsExactly(new ReplicaFailure("http://node-0", "unreadable", false, false),
				new ReplicaFailure("http://node-1", "pending", false, true),
				new ReplicaFailure("http://node-2", "timeout", false, true));
		assertThat(this.cluster.alarms()).isZero();
		assertThat(this.cluster.events).containsExactly("GET LINEARIZABLE NOT_APPLIED");
	}

	/** The same, written to three replicas. */
	private static Live ofThree(Live live) {
		return new Live(live.version(), 3, live.expiresAtMillis(), live.contentType(), live.value());
	}

	@Test
	void anEntryOfOneCopyIsNotGivenMore() {
		Live single = Generator.live(this.newer.version(), "single");
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.own.last().answer(Held.of(single));
		this.second.last().answer(versionOf(this.older));

		assertThat(read).isCompletedWithValue(single);
		assertThat(this.second.asked()).containsExactly(Asked.READ_VERSION);
	}

	@Test
	void aReplicaThatIsBehindIsRepairedBeforeAnyoneIsAnswered() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.own.last().answer(Held.of(this.newer));
		this.second.last().answer(versionOf(this.older));
		assertThat(this.second.asked()).containsExactly(Asked.READ_VERSION, Asked.REPAIR);
		assertThat(this.second.last().entry()).isEqualTo(this.newer);
		assertThat(this.own.asked()).as("it holds it").containsExactly(Asked.READ);
		assertThat(read).isNotDone();

		this.second.last().answer(Acknowledged.INSTANCE);
		assertThat(read).isCompletedWithValue(this.newer);
		assertThat(this.cluster.events).containsExactly("wrote back", "GET LINEARIZABLE REACHED");
	}

	@Test
	void theThirdCountsForAWriteBackToo() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.own.last().answer(Held.of(this.newer));
		this.second.last().answer(new Held(Version.ABSENT, null));
		this.second.last().answer(NOT_DONE);
		assertThat(read).isNotDone();
		this.third.last().answer(Acknowledged.INSTANCE);

		assertThat(read).isCompletedWithValue(this.newer);
	}

	@Test
	void aWriteBackThatFailsFailsTheRead() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.own.last().answer(Held.of(this.newer));
		this.second.last().answer(versionOf(this.older));
		this.second.last().answer(NOT_DONE);
		this.third.last().answer(Failed.unknown(Reason.DISCONNECTED, "broken"));

		assertThat(failure(read).mayHaveHappened()).isFalse();
		assertThat(failure(read).acknowledged()).isEqualTo(1);
		assertThat(this.cluster.events).containsExactly("wrote back", "GET LINEARIZABLE NOT_APPLIED");
	}

	@Test
	void aWriteBackIsNotTakenBackWhenTheClientGivesUp() {
		var client = this.cluster.coordinator.get(KEY, MAJORITY, OperationObserver.NONE).subscribe();
		this.own.last().answer(Held.of(this.newer));
		this.second.last().answer(versionOf(this.older));
		client.dispose();

		assertThat(this.second.last().asked).isEqualTo(Asked.REPAIR);
		assertThat(this.second.last().isCancelled()).isFalse();
	}

	@Test
	void aTombstoneIsWrittenBackLikeAnyOtherEntry() {
		Tombstone tombstone = new Tombstone(this.newer.version(), 3);
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.own.last().answer(Held.of(tombstone));
		this.second.last().answer(versionOf(this.older));
		assertThat(read).isNotDone();
		assertThat(this.second.last().entry()).isEqualTo(tombstone);
		this.second.last().answer(Acknowledged.INSTANCE);

		assertThat(read).isCompletedWithValue(null);
	}

	@Test
	void whereOnlyTheVersionOfTheNewestIsKnownTheEntryIsAskedForAndWrittenBack() {
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.own.last().answer(Held.of(this.older));
		this.second.last().answer(versionOf(this.newer));
		assertThat(this.own.asked()).containsExactly(Asked.READ, Asked.READ);
		assertThat(this.second.asked()).containsExactly(Asked.READ_VERSION, Asked.READ);
		this.second.last().answer(Held.of(this.newer));
		this.own.last().answer(Held.of(this.older));
		assertThat(read).isNotDone();
		assertThat(this.own.last().asked).isEqualTo(Asked.REPAIR);
		assertThat(this.third.last().asked).isEqualTo(Asked.REPAIR);
		this.own.last().answer(Acknowledged.INSTANCE);

		assertThat(read).isCompletedWithValue(this.newer);
		assertThat(this.second.stores()).isEmpty();
	}

	@Test
	void whereTheReplicaThatWasToBeReadFailsTheOthersAreReadWhenTheyHaveSomething() {
		this.own.fails(Reason.UNREADABLE);
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.second.last().answer(versionOf(this.newer));
		this.third.last().answer(versionOf(this.newer));
		assertThat(this.second.last().asked).isEqualTo(Asked.READ);
		this.second.last().answer(Held.of(this.newer));
		this.third.last().answer(Held.of(this.newer));

		assertThat(read).isCompletedWithValue(this.newer);
		assertThat(this.cluster.events).containsExactly("GET LINEARIZABLE REACHED");
	}

	@Test
	void whereNobodyHoldsAnythingNothingIsAskedForTwice() {
		this.own.fails(Reason.UNREADABLE);
		CompletableFuture<@Nullable Live> read = get(MAJORITY);
		this.second.last().answer(Held.nothing());
		this.third.last().answer(Held.nothing());

		assertThat(read).isCompletedWithValue(null);
		assertThat(askedOf(this.cluster)).containsExactly(1, 1, 1);
	}

	@Test
	void whatHasExpiredIsNotThereAndWasSoAMillisecondEarlier() {
		Live expiring = Generator.live(this.newer.version(), "for a while", this.cluster.time.millis() + 1);
		this.cluster.replicas.forEach(replica -> replica.holds(expiring));
		assertThat(get(MAJORITY)).isCompletedWithValue(expiring);
		this.cluster.time.pass(Duration.ofMillis(1));

		assertThat(get(MAJORITY)).isCompletedWithValue(null);
	}

	@Test
	void aReadHasOneDeadlineForAllItAsks() {
		var _ = get(MAJORITY);
		this.cluster.time.pass(Duration.ofMillis(300));
		this.own.last().answer(Held.of(this.newer));
		this.second.last().answer(versionOf(this.older));

		assertThat(this.second.last().deadline.remainingNanos(this.cluster.time))
			.isEqualTo(Coordinators.SETTINGS.readTimeout().minusMillis(300).toNanos());
	}

	@Test
	void aCallerThatWaitsForLessSetsTheDeadlineAndNoneWaitsForMore() {
		var _ = get(MAJORITY, Duration.ofMillis(200));
		assertThat(this.own.last().deadline.remainingNanos(this.cluster.time)).isEqualTo(200_000_000);

		var _ = get(MAJORITY, Duration.ofSeconds(999_999_999));
		assertThat(this.own.last().deadline.remainingNanos(this.cluster.time))
			.isEqualTo(Coordinators.SETTINGS.readTimeout().toNanos());
	}

	@Test
	void anEventualReadIsAnsweredByTheFirstReplyAndRepairsNobodyItDoesNotKnowOf() {
		CompletableFuture<@Nullable Live> read = get(ANY_ONE);
		assertThat(askedOf(this.cluster)).containsExactly(1, 0, 0);
		this.own.last().answer(Held.of(this.older));

		assertThat(read).isCompletedWithValue(this.older);
		assertThat(this.cluster.events).containsExactly("GET EVENTUAL REACHED");
	}

	@Test
	void anEventualReadThatFindsAReplicaBehindIsAnsweredAndRepairsItInTheBackground() {
		ScriptedCluster five = new ScriptedCluster(5, 5);
		five.readRepair.run().subscribe();
		CompletableFuture<@Nullable Live> read = five.coordinator.get(KEY, MAJORITY, OperationObserver.NONE).toFuture();
		five.replica(0).last().answer(Held.of(this.newer));
		five.replica(1).last().answer(versionOf(this.older));

		assertThat(read).isCompletedWithValue(this.newer);
		assertThat(five.replica(1).asked()).containsExactly(Asked.READ_VERSION, Asked.REPAIR);
		assertThat(five.replica(1).last().entry()).isEqualTo(this.newer);
		assertThat(five.replica(0).stores()).isEmpty();
		assertThat(five.replica(2).asked()).isEmpty();
		assertThat(five.events).containsExactly("repairing", "GET EVENTUAL REACHED");
	}

	@Test
	void hedgesAreForFiveInAHundredReadsWhenWhatWasSavedIsUsedUp() {
		int saved = 0;
		while (isHedged()) {
			saved++;
		}
		List<Boolean> hedged = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			hedged.add(isHedged());
		}

		assertThat(saved).isBetween(2_000, 2_200);
		assertThat(hedged).filteredOn(each -> each).hasSizeBetween(49, 51);
		assertThat(this.cluster.events).contains("not hedged");
	}

	private boolean isHedged() {
		int before = this.third.asked().size();
		var client = this.cluster.coordinator.get(KEY, MAJORITY, OperationObserver.NONE).subscribe();
		this.cluster.ring();
		client.dispose();
		return this.third.asked().size() > before;
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void aClientThatGivesUpLeavesNoAlarmAndNothingThatIsAskedLater(int replies) {
		var client = this.cluster.coordinator.get(KEY, MAJORITY, OperationObserver.NONE).subscribe();
		if (replies > 0) {
			this.own.last().answer(Held.of(this.newer));
		}
		if (replies > 1) {
			this.second.last().answer(NOT_DONE);
		}
		client.dispose();
		List<Integer> asked = askedOf(this.cluster);
		if (replies == 0) {
			this.own.last().answer(NOT_DONE);
		}

		assertThat(this.cluster.alarms()).isZero();
		assertThat(askedOf(this.cluster)).isEqualTo(asked);
	}

}
