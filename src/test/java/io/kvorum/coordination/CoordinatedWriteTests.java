package io.kvorum.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.coordination.ScriptedReplica.Asked;
import io.kvorum.coordination.ScriptedReplica.Call;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.WriteOptions;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** Writes to several replicas: whom they ask, when they answer, what they tell. */
class CoordinatedWriteTests {

	private static final Key KEY = Generator.key("key");

	private static final Value VALUE = Value.of(new byte[] { 1, 2, 3 });

	private static final Replicas MAJORITY = new Replicas(2, 3);

	private static final Replicas ANY_ONE = new Replicas(1, 3);

	private static final Failed NOT_DONE = Failed.notDone(Reason.OVERLOADED, "full");

	private static final Failed UNKNOWN = Failed.unknown(Reason.DISCONNECTED, "the connection broke");

	private static final Failed LASTING = new Failed(Reason.UNREADABLE, "damaged", false, false);

	private static final Failed GONE = Failed.notDone(Reason.AWAY, "away");

	private static final Failed FULL = Failed.notDone(Reason.NO_SPACE, "the disk is full");

	private static final Reply DONE = Acknowledged.INSTANCE;

	private final ScriptedCluster cluster = new ScriptedCluster(3, 3);

	private CompletableFuture<@Nullable Version> put(Replicas asked) {
		return this.cluster.coordinator.put(KEY, asked, "text/plain", VALUE, null, OperationObserver.NONE).toFuture();
	}

	/** A put whose version is decided: its stores wait for their answers. */
	private CompletableFuture<@Nullable Version> putAfterVersions() {
		CompletableFuture<@Nullable Version> put = put(MAJORITY);
		this.cluster.replica(0).last().answer(Held.nothing());
		this.cluster.replica(1).last().answer(Held.nothing());
		return put;
	}

	private static OperationFailedException failure(CompletableFuture<?> operation) {
		assertThat(operation).isCompletedExceptionally();
		return (OperationFailedException) operation.exceptionNow();
	}

	private List<Call> stores() {
		return this.cluster.replicas.stream().flatMap(replica -> replica.stores().stream()).toList();
	}

	private @Nullable OperationFailedException refusal(int ack, int from) {
		return this.cluster.coordinator.refuseWrite(Operation.PUT, KEY, new Replicas(ack, from), VALUE.length());
	}

	@ParameterizedTest(name = "{0}/{1}, {2} of the others away")
	@CsvSource({ "1, 1, 0", "2, 2, 0", "3, 3, 0", "2, 3, 1", "1, 3, 2" })
	void aWriteIsRefusedBeforehandWhereThisNodesReplicaIsFullAndTheOthersDoNotSufficeWithoutIt(int ack, int from,
			int away) {
		this.cluster.replica(0).isFull();
		for (int other = 1; other <= away; other++) {
			this.cluster.replica(other).isAway();
		}

		assertThat(refusal(ack, from)).isInstanceOfSatisfying(OperationFailedException.class, refused -> {
			assertThat(refused).hasMessage("full");
			assertThat(refused.kind()).isEqualTo(Kind.NOT_ACCEPTED);
			assertThat(refused.mayHaveHappened()).isFalse();
			assertThat(refused.mayRetry()).isTrue();
			assertThat(refused.required()).isEqualTo(ack);
			assertThat(refused.acknowledged()).isZero();
			assertThat(refused.replicas())
				.containsExactly(new ReplicaFailure("http://node-0", "overloaded", false, true));
		});
		assertThat(this.cluster.replicas).allSatisfy(replica -> assertThat(replica.asked()).isEmpty());
		assertThat(this.cluster.events).singleElement().asString().startsWith("PUT ").endsWith(" NOT_APPLIED");
	}

	@ParameterizedTest(name = "{0}/{1}, {2} of the others away")
	@CsvSource({ "1, 2, 0", "2, 3, 0", "1, 3, 1", "3, 3, 1", "2, 3, 2" })
	void aWriteIsTriedWhereThisNodesReplicaIsFullAndTheOthersSufficeOrDoNotEvenWithIt(int ack, int from, int away) {
		this.cluster.replica(0).isFull();
		for (int other = 1; other <= away; other++) {
			this.cluster.replica(other).isAway();
		}

		assertThat(refusal(ack, from)).isNull();
		assertThat(this.cluster.events).isEmpty();
	}

	@Test
	void aWriteIsTriedWhereThisNodesReplicaHasRoomWhoeverElseIsFullOrAway() {
		this.cluster.replica(1).isFull();
		this.cluster.replica(2).isAway();

		assertThat(refusal(3, 3)).isNull();
	}

	@Test
	void ofAKeyWithOneCopyOnlyTheNodeThatHoldsItRefusesBeforehand() {
		Topology topology = Topology.of(List.of("http://a", "http://b", "http://c"), 3);
		List<ScriptedReplica> replicas = topology.members().stream().map(ScriptedReplica::new).toList();
		replicas.forEach(ScriptedReplica::isFull);
		Member holder = new RendezvousPlacement(topology).replicasOf(KEY, 1).getFirst();

		assertThat(topology.members()).allSatisfy(self -> {
			Coordinator coordinator = Coordinators.of(topology, self, replicas, this.cluster.clock, this.cluster.time,
					_ -> Mono.never());
			assertThat(coordinator.refuseWrite(Operation.DELETE, KEY, new Replicas(1, 1), 0) != null)
				.isEqualTo(self.equals(holder));
		});
	}

	@Test
	void aWriteAsksAMajorityForItsVersionsAndStoresNothingBeforeThat() {
		var _ = put(MAJORITY);
		assertThat(this.cluster.replica(0).asked()).containsExactly(Asked.READ_VERSION);
		assertThat(this.cluster.replica(1).asked()).containsExactly(Asked.READ_VERSION);
		assertThat(this.cluster.replica(2).asked()).isEmpty();

		this.cluster.replica(0).last().answer(Held.nothing());
		assertThat(stores()).isEmpty();

		this.cluster.replica(1).last().answer(Held.nothing());
		assertThat(stores()).hasSize(3).allMatch(store -> store.asked == Asked.STORE);
	}

	@ParameterizedTest
	@CsvSource({ "400, 100", "100, 400", "-5, 500", "0, 0" })
	void aWriteIsAboveTheNewestVersionOfAMajority(long first, long second) {
		var _ = put(MAJORITY);
		Version one = this.cluster.version(first);
		Version other = this.cluster.version(second);
		this.cluster.replica(0).last().answer(new Held(one, null));
		this.cluster.replica(1).last().answer(new Held(other, null));

		Version given = this.cluster.replica(2).last().entry().version();
		assertThat(given.isNewerThan(one)).isTrue();
		assertThat(given.isNewerThan(other)).isTrue();
		assertThat(given.node()).isEqualTo(ScriptedCluster.SELF);
	}

	@Test
	void allReplicasGetTheSameEntryAndTheClientItsVersion() {
		CompletableFuture<@Nullable Version> put = this.cluster.coordinator
			.put(KEY, MAJORITY, "text/plain", VALUE, Ttl.parse("30s"), OperationObserver.NONE)
			.toFuture();
		this.cluster.replica(0).last().answer(Held.nothing());
		this.cluster.replica(1).last().answer(Held.nothing());
		List<Entry> entries = stores().stream().map(Call::entry).toList();
		stores().forEach(store -> store.answer(Acknowledged.INSTANCE));

		assertThat(put).isCompleted();
		assertThat(entries).hasSize(3)
			.containsOnly(new Live(put.join(), 3, this.cluster.time.millis() + 30_000, "text/plain", VALUE));
	}

	@Test
	void aTtlIsCountedFromTheVersionAndNotFromTheClockOfTheCoordinator() {
		Version seen = this.cluster.version(400);
		var _ = this.cluster.coordinator
			.put(KEY, MAJORITY, "text/plain", VALUE, Ttl.parse("1s"), OperationObserver.NONE)
			.toFuture();
		this.cluster.replica(0).last().answer(new Held(seen, null));
		this.cluster.replica(1).last().answer(Held.nothing());

		assertThat(stores()).hasSize(3)
			.allSatisfy(store -> assertThat(((Live) store.entry()).expiresAtMillis())
				.isEqualTo(store.entry().version().millis() + 1_000)
				.isEqualTo(seen.millis() + 1_000));
	}

	@Test
	void aDeleteStoresATombstoneAboveWhatWasThereAlsoWhereTheKeyIsAbsent() {
		CompletableFuture<@Nullable Version> deleted = this.cluster.coordinator
			.delete(KEY, MAJORITY, OperationObserver.NONE)
			.toFuture();
		this.cluster.replica(0).last().answer(Held.nothing());
		this.cluster.replica(1).last().answer(Held.nothing());
		stores().forEach(store -> store.answer(Acknowledged.INSTANCE));

		assertThat(stores()).extracting(Call::entry).containsOnly(new Tombstone(deleted.join(), 3));
	}

	static Stream<List<Integer>> orders() {
		return Stream.of(List.of(0, 1, 2), List.of(0, 2, 1), List.of(1, 0, 2), List.of(1, 2, 0), List.of(2, 0, 1),
				List.of(2, 1, 0));
	}

	@ParameterizedTest
	@MethodSource("orders")
	void aWriteIsAnsweredAtTheSecondOfThreeAcknowledgementsAndTheThirdIsNotCancelled(List<Integer> order) {
		CompletableFuture<@Nullable Version> put = putAfterVersions();
		this.cluster.replica(order.get(0)).last().answer(Acknowledged.INSTANCE);
		assertThat(put).isNotDone();

		this.cluster.replica(order.get(1)).last().answer(Acknowledged.INSTANCE);
		assertThat(put).isCompleted();
		assertThat(stores()).noneMatch(Call::isCancelled);
		this.cluster.replica(order.get(2)).last().answer(NOT_DONE);
		assertThat(this.cluster.events).containsExactly("PUT LINEARIZABLE REACHED");
	}

	@ParameterizedTest
	@MethodSource("orders")
	void oneFailureOfThreeChangesNothing(List<Integer> order) {
		CompletableFuture<@Nullable Version> put = putAfterVersions();
		this.cluster.replica(order.get(0)).last().answer(UNKNOWN);
		this.cluster.replica(order.get(1)).last().answer(Acknowledged.INSTANCE);
		assertThat(put).isNotDone();
		this.cluster.replica(order.get(2)).last().answer(Acknowledged.INSTANCE);

		assertThat(put).isCompleted();
	}

	@Test
	void whereTheClientGivesUpTheStoresGoOn() {
		Disposable client = this.cluster.coordinator
			.put(KEY, MAJORITY, "text/plain", VALUE, null, OperationObserver.NONE)
			.subscribe();
		this.cluster.replica(0).last().answer(Held.nothing());
		this.cluster.replica(1).last().answer(Held.nothing());
		client.dispose();

		assertThat(stores()).hasSize(3).noneMatch(Call::isCancelled);
	}

	@Test
	void withAckOneAReplyThatComesAtOnceAnswersAndKeepsNoStoreFromAnybody() {
		for (int first = 0; first < 3; first++) {
			ScriptedCluster other = new ScriptedCluster(3, 3);
			other.replica(first).holdsNothing();
			CompletableFuture<@Nullable Version> put = other.coordinator
				.put(KEY, ANY_ONE, "text/plain", VALUE, null, OperationObserver.NONE)
				.toFuture();

			assertThat(put).isCompleted();
			assertThat(other.replicas).allSatisfy(replica -> {
				assertThat(replica.asked()).containsExactly(Asked.STORE);
				assertThat(replica.last().isCancelled()).isFalse();
				assertThat(replica.last().entry().version()).isEqualTo(put.join());
			});
			assertThat(other.events).containsExactly("PUT EVENTUAL REACHED");
		}
	}

	@Test
	void withAckOneAndAClientThatGivesUpAtOnceAllAreAsked() {
		this.cluster.coordinator.put(KEY, ANY_ONE, "text/plain", VALUE, null, OperationObserver.NONE)
			.subscribe()
			.dispose();

		assertThat(stores()).hasSize(3).noneMatch(Call::isCancelled);
	}

	@Test
	void whereAllReplyAtOnceAWriteOfAMajorityIsAnsweredAndAllAreAsked() {
		this.cluster.replicas.forEach(ScriptedReplica::holdsNothing);

		assertThat(put(MAJORITY)).isCompleted();
		assertThat(stores()).hasSize(3).noneMatch(Call::isCancelled);
	}

	@Test
	void theReplicaOfThisNodeIsAskedLastToStoreSoThatTheOthersWorkMeanwhile() {
		List<String> order = new ArrayList<>();
		this.cluster.replicas.forEach(replica -> replica.script(_ -> {
			order.add(replica.toString());
			return null;
		}));
		var _ = put(ANY_ONE);

		assertThat(order).containsExactly("http://node-2", "http://node-1", "http://node-0");
	}

	static Stream<Arguments> outcomes() {
		// How many must acknowledge and what the replicas reply, null where the decision
		// comes before; may it have happened, is it worth a retry, what stood in the way?
		return Stream.of(Arguments.of(1, NOT_DONE, NOT_DONE, NOT_DONE, false, true, Kind.NOT_ACCEPTED),
				Arguments.of(1, NOT_DONE, GONE, NOT_DONE, false, true, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(1, FULL, FULL, FULL, false, true, Kind.NO_SPACE),
				Arguments.of(1, FULL, NOT_DONE, FULL, false, true, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(1, UNKNOWN, NOT_DONE, NOT_DONE, true, true, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(1, NOT_DONE, UNKNOWN, NOT_DONE, true, true, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(1, NOT_DONE, NOT_DONE, UNKNOWN, true, true, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(1, LASTING, LASTING, LASTING, false, false, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(1, LASTING, LASTING, NOT_DONE, false, true, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(2, NOT_DONE, GONE, null, true, true, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(2, LASTING, NOT_DONE, null, true, true, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(2, LASTING, LASTING, null, true, false, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(2, DONE, NOT_DONE, NOT_DONE, true, true, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(2, DONE, LASTING, LASTING, true, false, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(3, LASTING, null, null, true, false, Kind.NOT_ENOUGH_REPLICAS),
				Arguments.of(3, DONE, DONE, NOT_DONE, true, true, Kind.NOT_ENOUGH_REPLICAS));
	}

	@ParameterizedTest
	@MethodSource("outcomes")
	void aWriteThatFailsSaysAtOnceWhetherItMayHaveHappenedAndWhetherToTryAgain(int ack, @Nullable Reply first,
			@Nullable Reply second, @Nullable Reply third, boolean mayHaveHappened, boolean mayRetry, Kind kind) {
		ScriptedCluster five = new ScriptedCluster(5, 5);
		CompletableFuture<@Nullable Version> put = five.coordinator
			.put(KEY, new Replicas(ack, 3), "text/plain", VALUE, null, OperationObserver.NONE)
			.toFuture();
		List<@Nullable Reply> replies = Arrays.asList(first, second, third);
		for (int i = 0; i < 3; i++) {
			Reply reply = replies.get(i);
			if (reply != null) {
				assertThat(put).isNotDone();
				five.replica(i).last().answer(reply);
			}
		}
		OperationFailedException failure = failure(put);

		assertThat(failure.mayHaveHappened()).isEqualTo(mayHaveHappened);
		assertThat(failure.mayRetry()).isEqualTo(mayRetry);
		assertThat(failure.kind()).isEqualTo(kind);
		assertThat(failure.required()).isEqualTo(ack);
		assertThat(failure.acknowledged()).isEqualTo(Collections.frequency(replies, DONE));
		assertThat(five.events).containsExactly("PUT EVENTUAL " + (mayHaveHappened ? "UNKNOWN" : "NOT_APPLIED"));
	}

	@Test
	void aWriteThatTheThirdReplicaMayYetStoreIsNotToldAsNotAccepted() {
		CompletableFuture<@Nullable Version> put = putAfterVersions();
		this.cluster.replica(0).last().answer(NOT_DONE);
		this.cluster.replica(1).last().answer(NOT_DONE);

		assertThat(failure(put).mayHaveHappened()).isTrue();
		assertThat(failure(put).kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
	}

	@Test
	void aWriteThatFailsNamesItsReplicasAndThoseThatHaveNotReplied() {
		CompletableFuture<@Nullable Version> put = putAfterVersions();
		this.cluster.replica(0).last().answer(NOT_DONE);
		this.cluster.replica(2).last().answer(UNKNOWN);

		assertThat(failure(put).replicas()).containsExactly(
				new ReplicaFailure("http://node-0", "overloaded", false, true),
				new ReplicaFailure("http://node-1", "pending", true, true),
				new ReplicaFailure("http://node-2", "disconnected", true, true));
		assertThat(this.cluster.events).containsExactly("PUT LINEARIZABLE UNKNOWN");
		assertThat(this.cluster.replica(1).last().isCancelled()).isFalse();
	}

	@Test
	void aMajorityThatCannotTellItsVersionsFailsTheWriteBeforeItBegins() {
		CompletableFuture<@Nullable Version> put = put(MAJORITY);
		this.cluster.replica(0).last().answer(UNKNOWN);
		assertThat(this.cluster.replica(2).asked()).containsExactly(Asked.READ_VERSION);
		this.cluster.replica(1).last().answer(NOT_DONE);

		assertThat(failure(put).mayHaveHappened()).isFalse();
		assertThat(failure(put).replicas()).noneMatch(ReplicaFailure::mayHaveHappened);
		assertThat(stores()).isEmpty();
		assertThat(this.cluster.events).containsExactly("PUT LINEARIZABLE NOT_APPLIED");
	}

	@Test
	void oneReplicaThatIsAwayIsNotAskedForItsVersion() {
		this.cluster.replica(1).isAway();
		CompletableFuture<@Nullable Version> put = put(MAJORITY);

		assertThat(this.cluster.replica(1).asked()).isEmpty();
		this.cluster.replica(0).last().answer(Held.nothing());
		this.cluster.replica(2).last().answer(Held.nothing());
		this.cluster.replica(0).last().answer(Acknowledged.INSTANCE);
		this.cluster.replica(2).last().answer(Acknowledged.INSTANCE);
		assertThat(put).isCompleted();
	}

	@Test
	void whereTooFewArePresentAWriteIsNotBegun() {
		this.cluster.replica(1).isAway();
		this.cluster.replica(2).isAway();
		for (Replicas asked : List.of(MAJORITY, new Replicas(3, 3))) {
			CompletableFuture<@Nullable Version> put = put(asked);
			this.cluster.replica(0).last().answer(Held.nothing());

			assertThat(failure(put).mayHaveHappened()).isFalse();
			assertThat(failure(put).mayRetry()).isTrue();
			assertThat(failure(put).kind()).isEqualTo(Kind.NOT_ENOUGH_REPLICAS);
		}
		assertThat(stores()).isEmpty();
	}

	@Test
	void whereTooFewArePresentForAWriteWithoutVersionsNobodyIsAsked() {
		ScriptedCluster larger = new ScriptedCluster(5, 5);
		larger.replica(2).isAway();
		CompletableFuture<@Nullable Version> put = larger.coordinator
			.put(KEY, new Replicas(3, 3), "text/plain", VALUE, null, OperationObserver.NONE)
			.toFuture();

		assertThat(failure(put).mayHaveHappened()).isFalse();
		assertThat(failure(put).replicas()).contains(new ReplicaFailure("http://node-2", "away", false, true))
			.noneMatch(ReplicaFailure::mayHaveHappened);
		assertThat(larger.replicas).allMatch(replica -> replica.asked().isEmpty());
		assertThat(larger.events).containsExactly("PUT EVENTUAL NOT_APPLIED");
	}

	@Test
	void whatIsAwayIsToldAtOnceAndDecides() {
		this.cluster.replica(2).isAway();
		CompletableFuture<@Nullable Version> put = put(ANY_ONE);
		this.cluster.replica(0).last().answer(NOT_DONE);
		this.cluster.replica(1).last().answer(NOT_DONE);

		assertThat(failure(put).mayHaveHappened()).isFalse();
	}

	@Test
	void aNewestVersionTooFarAheadOfThisClockIsNotWrittenOver() {
		CompletableFuture<@Nullable Version> put = put(MAJORITY);
		this.cluster.replica(0).last().answer(new Held(this.cluster.version(0), null));
		this.cluster.replica(1).last().answer(new Held(this.cluster.version(501), null));

		assertThat(failure(put).kind()).isEqualTo(Kind.NOT_ACCEPTED);
		assertThat(failure(put).mayHaveHappened()).isFalse();
		assertThat(failure(put).mayRetry()).isTrue();
		assertThat(failure(put)).hasMessageContaining("set the clocks");
		assertThat(failure(put).replicas()).containsExactly(new ReplicaFailure("http://node-0", "clock", false, true));
		assertThat(stores()).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "2, 3", "1, 3", "1, 1" })
	void aNodeWhoseOwnVersionsAreTooFarAheadOfItsClockStoresNothingNotEvenHere(int ack, int from) {
		this.cluster.clock.next();
		this.cluster.time.jump(Duration.ofHours(-23));
		this.cluster.replicas.forEach(ScriptedReplica::holdsNothing);

		assertThat(failure(put(new Replicas(ack, from)))).satisfies(failed -> {
			assertThat(failed.kind()).isEqualTo(Kind.NOT_ACCEPTED);
			assertThat(failed.mayHaveHappened()).isFalse();
			assertThat(failed).hasMessageContaining("82800000 ms ahead of its clock, the limit is 500 ms");
			assertThat(failed.replicas()).containsExactly(new ReplicaFailure("http://node-0", "clock", false, true));
		});
		assertThat(stores()).isEmpty();

		this.cluster.time.pass(Duration.ofHours(23));
		assertThat(put(new Replicas(ack, from))).isCompleted();
	}

	@Test
	void aWriteWaitsForTheBoundOfItsClockAndStoresThen() {
		this.cluster.time.pass(Duration.ofHours(1));
		CompletableFuture<Void> bound = this.cluster.holdBound();
		CompletableFuture<@Nullable Version> put = putAfterVersions();
		assertThat(stores()).isEmpty();

		bound.complete(null);
		assertThat(stores()).hasSize(3);
		stores().forEach(store -> store.answer(Acknowledged.INSTANCE));
		assertThat(put.join().millis()).isEqualTo(this.cluster.time.millis());
	}

	@Test
	void aWriteDoesNotWaitForTheBoundOfItsClockBeyondItsDeadline() {
		this.cluster.time.pass(Duration.ofHours(1));
		CompletableFuture<Void> bound = this.cluster.holdBound();
		CompletableFuture<@Nullable Version> put = putAfterVersions();
		assertThat(this.cluster.alarms()).isEqualTo(1);
		this.cluster.ring();

		assertThat(put.exceptionNow()).isInstanceOfSatisfying(OperationFailedException.class, failed -> {
			assertThat(failed.mayHaveHappened()).isFalse();
			assertThat(failed.mayRetry()).isTrue();
			assertThat(failed.replicas()).containsExactly(new ReplicaFailure("http://node-0", "timeout", false, true));
		});
		bound.complete(null);
		assertThat(stores()).isEmpty();
	}

	@Test
	void everyCallOfAWriteHasItsDeadline() {
		var _ = putAfterVersions();

		assertThat(this.cluster.replica(0).last().deadline.remainingNanos(this.cluster.time))
			.isEqualTo(Coordinators.SETTINGS.writeTimeout().toNanos());
		this.cluster.time.pass(Duration.ofMillis(500));
		assertThat(this.cluster.replica(2).last().deadline.remainingNanos(this.cluster.time))
			.isEqualTo(Coordinators.SETTINGS.writeTimeout().minusMillis(500).toNanos());
	}

	@ParameterizedTest
	@CsvSource({ "150, 150", "2001, 2000" })
	void aCallerThatWaitsForLessSetsTheDeadlineAndNoneWaitsForMore(long timeout, long deadline) {
		WriteOptions options = new WriteOptions(MAJORITY, Condition.NONE, null, Duration.ofMillis(timeout));
		var _ = this.cluster.coordinator.put(KEY, options, "text/plain", VALUE, null, OperationObserver.NONE)
			.toFuture();
		assertThat(this.cluster.replica(0).last().deadline.remainingNanos(this.cluster.time))
			.isEqualTo(Duration.ofMillis(deadline).toNanos());
	}

	@Test
	void theTimeThatTheVersionsTookIsNotThereForTheStores() {
		var _ = put(MAJORITY);
		this.cluster.time.pass(Duration.ofMillis(800));
		this.cluster.replica(0).last().answer(Held.nothing());
		this.cluster.replica(1).last().answer(Held.nothing());

		assertThat(stores()).hasSize(3)
			.allMatch(store -> store.deadline.remainingNanos(this.cluster.time) == Duration.ofMillis(1_200).toNanos());
	}

	@Test
	void anotherFromThanTheDefaultIsOneRoundWithAVersionOfThisClock() {
		CompletableFuture<@Nullable Version> put = put(new Replicas(2, 2));
		assertThat(this.cluster.replica(0).asked()).containsExactly(Asked.STORE);
		assertThat(this.cluster.replica(1).asked()).containsExactly(Asked.STORE);
		assertThat(this.cluster.replica(2).asked()).isEmpty();
		stores().forEach(store -> store.answer(Acknowledged.INSTANCE));

		assertThat(put.join().millis()).isEqualTo(this.cluster.time.millis());
		assertThat(this.cluster.events).containsExactly("PUT EVENTUAL REACHED");
	}

	@Test
	void oneCopyOnOneReplicaOfAClusterIsStoredThereAndLeftWhereItIsByWhoGivesUp() {
		Disposable client = this.cluster.coordinator.delete(KEY, new Replicas(1, 1), OperationObserver.NONE)
			.subscribe();
		client.dispose();

		assertThat(this.cluster.replica(0).asked()).containsExactly(Asked.STORE);
		assertThat(this.cluster.replica(1).asked()).isEmpty();
	}

	@Test
	void theVersionsOfAWriteAreHedgedToo() {
		var _ = put(MAJORITY);
		assertThat(this.cluster.alarms()).isEqualTo(1);
		this.cluster.ring();
		this.cluster.replica(2).last().answer(Held.nothing());
		this.cluster.replica(1).last().answer(Held.nothing());

		assertThat(stores()).hasSize(3);
		assertThat(this.cluster.alarms()).isZero();
		assertThat(this.cluster.events).containsExactly("hedged");
	}

	@Test
	void aReplicaThatFailsBeforeTheWriteIsDecidedHasMissedItWhenItIs() {
		var _ = putAfterVersions();
		this.cluster.replica(2).last().answer(GONE);
		assertThat(this.cluster.missed).as("nobody knows yet whether the write happens").isEmpty();

		this.cluster.replica(0).last().answer(DONE);
		this.cluster.replica(1).last().answer(DONE);
		assertThat(this.cluster.missed).containsExactly(2);
	}

	@Test
	void aReplicaThatFailsAfterTheAnswerHasMissedTheWriteToo() {
		CompletableFuture<@Nullable Version> put = putAfterVersions();
		this.cluster.replica(0).last().answer(DONE);
		this.cluster.replica(1).last().answer(DONE);
		assertThat(put).isCompleted();

		this.cluster.replica(2).last().answer(UNKNOWN);
		assertThat(this.cluster.missed).containsExactly(2);
	}

	@Test
	void ofAWriteWhoseOutcomeIsUnknownAllThatFailedHaveMissedIt() {
		CompletableFuture<@Nullable Version> put = putAfterVersions();
		this.cluster.replica(0).last().answer(DONE);
		this.cluster.replica(1).last().answer(GONE);
		this.cluster.replica(2).last().answer(UNKNOWN);

		assertThat(failure(put).mayHaveHappened()).isTrue();
		assertThat(this.cluster.missed).containsExactlyInAnyOrder(1, 2);
	}

	@Test
	void whoMissedAWriteIsToldAlsoWhereTheClientHasGivenUpBeforeItWasDecided() {
		Disposable client = this.cluster.coordinator
			.put(KEY, MAJORITY, "text/plain", VALUE, null, OperationObserver.NONE)
			.subscribe();
		this.cluster.replica(0).last().answer(Held.nothing());
		this.cluster.replica(1).last().answer(Held.nothing());
		client.dispose();
		this.cluster.replica(2).last().answer(GONE);
		assertThat(this.cluster.missed).as("nobody knows yet whether the write happens").isEmpty();
		this.cluster.replica(0).last().answer(DONE);
		this.cluster.replica(1).last().answer(DONE);

		assertThat(this.cluster.missed).containsExactly(2);
	}

	@Test
	void whereTheClientGivesUpAReplicaThatFailsLateHasMissedTheWriteToo() {
		Disposable client = this.cluster.coordinator.delete(KEY, ANY_ONE, OperationObserver.NONE).subscribe();
		client.dispose();
		this.cluster.replica(0).last().answer(DONE);
		this.cluster.replica(1).last().answer(DONE);
		this.cluster.replica(2).last().answer(UNKNOWN);

		assertThat(this.cluster.missed).containsExactly(2);
	}

	@Test
	void theOnlyCopyThatAnotherNodeMayHaveMissedIsToldAlsoWhereTheClientHasGivenUp() {
		this.cluster.coordinator.delete(KEY, new Replicas(1, 1), OperationObserver.NONE).subscribe().dispose();
		assertThat(this.cluster.replica(0).last().isCancelled()).isFalse();
		this.cluster.replica(0).last().answer(UNKNOWN);

		assertThat(this.cluster.missed).containsExactly(0);
	}

	@Test
	void aWriteThatDidNotHappenDoesNotHappenLater() {
		CompletableFuture<@Nullable Version> put = put(ANY_ONE);
		stores().forEach(store -> store.answer(NOT_DONE));

		assertThat(failure(put).mayHaveHappened()).isFalse();
		assertThat(this.cluster.missed).isEmpty();
	}

	@Test
	void aReplicaThatRefusesTheVersionOfAWriteThatSucceedsIsRepairedAndGetsNoHint() {
		var _ = putAfterVersions();
		this.cluster.replica(2).last().answer(Failed.notDone(Reason.CLOCK, "ahead"));
		assertThat(this.cluster.inNeed).isEmpty();

		this.cluster.replica(0).last().answer(DONE);
		this.cluster.replica(1).last().answer(DONE);

		assertThat(this.cluster.inNeed).containsExactly(2);
		assertThat(this.cluster.missed).isEmpty();
	}

	@Test
	void aReplicaThatRefusesTheVersionAfterTheDecisionIsRepaired() {
		var _ = putAfterVersions();
		this.cluster.replica(0).last().answer(DONE);
		this.cluster.replica(1).last().answer(DONE);
		this.cluster.replica(2).last().answer(Failed.notDone(Reason.CLOCK, "ahead"));

		assertThat(this.cluster.inNeed).containsExactly(2);
		assertThat(this.cluster.missed).isEmpty();
	}

	/** The node whose clock is ahead has stored it itself. */
	@Test
	void replicasThatRefuseTheVersionOfAWriteThatMayHappenAreRepaired() {
		var _ = putAfterVersions();
		this.cluster.replica(0).last().answer(DONE);
		this.cluster.replica(1).last().answer(Failed.notDone(Reason.CLOCK, "ahead"));
		this.cluster.replica(2).last().answer(Failed.notDone(Reason.CLOCK, "ahead"));

		assertThat(this.cluster.inNeed).containsExactly(1, 2);
		assertThat(this.cluster.missed).isEmpty();
	}

	@Test
	void replicasThatRefuseTheVersionOfAWriteThatDidNotHappenAreNotRepaired() {
		var _ = put(ANY_ONE);
		for (int replica = 0; replica < 3; replica++) {
			this.cluster.replica(replica).last().answer(Failed.notDone(Reason.CLOCK, "ahead"));
		}

		assertThat(this.cluster.inNeed).isEmpty();
		assertThat(this.cluster.missed).isEmpty();
	}

}
