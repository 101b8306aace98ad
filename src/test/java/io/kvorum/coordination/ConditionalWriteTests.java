package io.kvorum.coordination;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.kvorum.coordination.ScriptedReplica.Asked;
import io.kvorum.coordination.ScriptedReplica.Call;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.WriteOptions;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Writes, with a condition or without, where another one has taken promises. */
class ConditionalWriteTests {

	private static final Key KEY = Generator.key("key");

	private static final Value VALUE = Value.of(new byte[] { 1, 2, 3 });

	private static final Replicas MAJORITY = new Replicas(2, 3);

	private static final Condition ABSENT = new Condition(null, Tags.ANY);

	private final ScriptedCluster cluster = new ScriptedCluster(3, 3);

	private CompletableFuture<@Nullable Version> put(Condition condition) {
		return this.cluster.coordinator
			.put(KEY, WriteOptions.of(MAJORITY, condition), "text/plain", VALUE, null, OperationObserver.NONE)
			.toFuture();
	}

	/** A write whose replicas hold nothing, and wait for what it asks for next. */
	private CompletableFuture<@Nullable Version> putOfNewKey(Condition condition) {
		CompletableFuture<@Nullable Version> put = put(condition);
		last(0).answer(Held.nothing());
		last(1).answer(Held.nothing());
		return put;
	}

	private Call last(int replica) {
		return this.cluster.replica(replica).last();
	}

	private static Failed refusal(Version promise) {
		return new Refusal(promise, Version.ABSENT).toFailed();
	}

	/** The others accept what was sent under the last ballot. */
	private void promiseAndAccept() {
		for (Asked step : new Asked[] { Asked.PREPARE, Asked.ACCEPT }) {
			for (int replica = 0; replica < 2; replica++) {
				assertThat(last(replica).asked).isEqualTo(step);
				last(replica).answer((step == Asked.PREPARE) ? Held.nothing() : Acknowledged.INSTANCE);
			}
		}
	}

	@Test
	void aBallotThatOneRefusesAndOneLeavesUnansweredIsFollowedByAHigherOne() {
		CompletableFuture<@Nullable Version> put = putOfNewKey(ABSENT);
		Version promised = this.cluster.version(200);
		Version first = last(0).version();
		last(0).answer(Held.nothing());
		last(1).answer(refusal(promised));

		this.cluster.ring();
		this.cluster.ring();

		assertThat(last(0).version().isNewerThan(first)).isTrue();
		assertThat(last(0).version().isNewerThan(promised)).isTrue();
		promiseAndAccept();
		assertThat(put).isCompletedWithValue(last(0).version());
		assertThat(this.cluster.alarms()).isZero();
	}

	@Test
	void aWriteWhoseDeadlinePassesWhileItPausesIsToldOfContentionAndAsksNoReplica() {
		CompletableFuture<@Nullable Version> put = putOfNewKey(ABSENT);
		Version first = last(0).version();
		last(0).answer(refusal(this.cluster.version(200)));
		last(1).answer(refusal(this.cluster.version(200)));

		this.cluster.time.pass(Coordinators.SETTINGS.writeTimeout());
		while (this.cluster.alarms() > 0) {
			this.cluster.ring();
		}

		assertThat(last(0).version()).isEqualTo(first);
		assertThat(put).isCompletedExceptionally()
			.failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(OperationFailedException.class,
					failure -> assertThat(failure.kind()).isEqualTo(Kind.CONTENTION));
	}

	@Test
	void anEntryThatOneRefusesAndOneLeavesUnansweredIsLookedForAndKeepsItsIdentity() {
		CompletableFuture<@Nullable Version> put = putOfNewKey(ABSENT);
		last(0).answer(Held.nothing());
		last(1).answer(Held.nothing());
		Version identity = last(0).version();
		assertThat(last(0).asked).isEqualTo(Asked.ACCEPT);
		last(0).answer(Acknowledged.INSTANCE);
		last(1).answer(refusal(this.cluster.version(200)));

		this.cluster.ring();
		this.cluster.ring();

		promiseAndAccept();
		assertThat(last(0).entry().identity()).isEqualTo(identity);
		assertThat(put).isCompletedWithValue(identity);
	}

	@Test
	void aWriteThatWasSentBeforeReplicasWentAwayIsUnknownAndTellsWhichWentAway() {
		CompletableFuture<@Nullable Version> put = putOfNewKey(ABSENT);
		last(0).answer(Held.nothing());
		last(1).answer(Held.nothing());
		assertThat(last(0).asked).isEqualTo(Asked.ACCEPT);
		Failed gone = Failed.unknown(Reason.DISCONNECTED, "gone");
		last(1).answer(gone);
		last(2).answer(gone);
		while (this.cluster.alarms() > 0) {
			this.cluster.ring();
		}
		assertThat(last(1).asked).isEqualTo(Asked.PREPARE);
		last(1).answer(Failed.notDone(Reason.AWAY, "away"));
		last(2).answer(Failed.notDone(Reason.AWAY, "away"));

		assertThat(put).isCompletedExceptionally()
			.failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(OperationFailedException.class, failure -> {
				assertThat(failure.mayHaveHappened()).isTrue();
				assertThat(failure.replicas()).extracting(ReplicaFailure::reason).contains("away", "away");
			});
	}

	@Test
	void aPutThatOneRefusesAndOneLeavesUnansweredGoesOnByABallotAndKeepsItsIdentity() {
		CompletableFuture<@Nullable Version> put = putOfNewKey(Condition.NONE);
		Version identity = last(0).version();
		assertThat(last(0).asked).isEqualTo(Asked.STORE);
		last(0).answer(Acknowledged.INSTANCE);
		last(1).answer(refusal(this.cluster.version(200)));
		assertThat(last(0).asked).isEqualTo(Asked.STORE);

		this.cluster.ring();

		promiseAndAccept();
		assertThat(put).isCompletedWithValue(identity);
	}

	@Test
	void aRefusalOfAMinorityChangesNothing() {
		CompletableFuture<@Nullable Version> put = putOfNewKey(Condition.NONE);
		last(1).answer(refusal(this.cluster.version(200)));
		last(0).answer(Acknowledged.INSTANCE);
		last(2).answer(Acknowledged.INSTANCE);

		assertThat(put).isCompletedWithValue(last(0).version());
		assertThat(this.cluster.alarms()).isZero();
	}

	@Test
	void aReadWhoseWriteBackOneRefusesAndOneLeavesUnansweredReadsAgain() {
		Live live = new Live(this.cluster.version(-100), 3, Live.NEVER, "text/plain", VALUE);
		CompletableFuture<@Nullable Live> get = this.cluster.coordinator.get(KEY, MAJORITY, OperationObserver.NONE)
			.toFuture();
		last(0).answer(Held.of(live));
		last(1).answer(Held.nothing());
		assertThat(last(1).asked).isEqualTo(Asked.REPAIR);
		last(1).answer(refusal(this.cluster.version(200)));

		this.cluster.ring();
		this.cluster.ring();

		assertThat(last(0).asked).isEqualTo(Asked.READ);
		last(0).answer(Held.of(live));
		last(1).answer(new Held(live.version(), null));
		assertThat(get).isCompletedWithValue(live);
		assertThat(this.cluster.alarms()).isZero();
	}

}
