package io.kvorum.coordination;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.WriteOptions;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.Replica;
import io.kvorum.replication.VotingRight;
import io.kvorum.testing.ForwardedReplica;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;

/** Repeats whose earlier request ends, or fails, at an unlucky instant. */
class RequestJournalTests {

	private static final Key KEY = Generator.key("key");

	private static final IdempotencyKey NAME = new IdempotencyKey("caller", "name");

	private static final Condition ABSENT = new Condition(null, Tags.ANY);

	private static final Ttl TTL = new Ttl(Duration.ofSeconds(30));

	private static final Value VALUE = Value.of(new byte[] { 1, 2, 3 });

	private static final Duration RETENTION = Coordinators.SETTINGS.idempotency().retention();

	/** How far the clock of the coordinators is ahead of that of the replicas. */
	private static final Duration LEAD = Duration.ofMillis(300);

	private final Topology topology = Topology.of(List.of("http://a", "http://b", "http://c"), 3);

	private final SteeredTime time = new SteeredTime();

	private final SteeredTime behind = new SteeredTime();

	private final HybridLogicalClock clock = clock(this.time);

	private final List<Steered> replicas = this.topology.members().stream().map(this::replica).toList();

	/**
	 * What a replica replies to a store, a prepare or an accept; empty for its own reply.
	 */
	private BiFunction<Member, Key, Mono<Reply>> before = (_, _) -> Mono.empty();

	/** Whether prepares get that reply too. */
	private boolean holdsPrepares = true;

	RequestJournalTests() {
		this.time.pass(LEAD);
	}

	private static HybridLogicalClock clock(TimeSource time) {
		HybridLogicalClock clock = new HybridLogicalClock(time);
		clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
		return clock;
	}

	private Steered replica(Member member) {
		return new Steered(new LocalReplica(member, new InMemoryStorage(), clock(this.behind), this.behind,
				VotingRight.TRUSTED, PeerQueries.NONE, _ -> false));
	}

	/** Knows of no other request, as another node. */
	private Coordinator node() {
		return node(this.clock, this.time);
	}

	private Coordinator node(HybridLogicalClock clock, TimeSource time) {
		return Coordinators.of(this.topology, this.topology.members().getFirst(), this.replicas, clock, time,
				_ -> Mono.never());
	}

	private static CompletableFuture<@Nullable Version> put(Coordinator node) {
		return put(node, NAME, Condition.NONE, null);
	}

	private static CompletableFuture<@Nullable Version> put(Coordinator node, @Nullable IdempotencyKey name,
			Condition condition, @Nullable Ttl ttl) {
		return node
			.put(KEY, new WriteOptions(node.policy().defaults(), condition, name, null), "text/plain", VALUE, ttl,
					OperationObserver.NONE)
			.toFuture();
	}

	/** What each replica holds. */
	private List<Reply> held() {
		Deadline deadline = Deadline.after(this.time, Duration.ofSeconds(1));
		return this.replicas.stream().map(replica -> replica.read(KEY, deadline).toFuture().join()).toList();
	}

	private boolean isHeld() {
		return held().stream().anyMatch(reply -> reply instanceof Held held && held.entry() != null);
	}

	private static void assertUnknown(CompletableFuture<?> write) {
		assertThat(write).isCompletedExceptionally()
			.failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(OperationFailedException.class,
					failure -> assertThat(failure.mayHaveHappened()).isTrue());
	}

	/** An operation that has begun goes on with the nodes that it began with. */
	@Test
	void aWriteThatHappensWhileItsNodeEndsIsNotSaidNotToHaveHappened() {
		Coordinator node = node();
		this.before = (_, key) -> {
			if (!InternalKeys.isInternal(key)) {
				node.become(View.none(this.topology.members().getFirst(), this.replicas.getFirst(), node.policy(),
						"it was removed"));
			}
			return Mono.empty();
		};

		assertThat(put(node)).isCompleted().isNotCompletedExceptionally();
		assertThat(isHeld()).isTrue();
		assertThat(put(node)).isCompletedExceptionally();
	}

	private void pass(Duration time) {
		this.time.pass(time);
		this.behind.pass(time);
	}

	/** From now on values wait for this; records do not. */
	private void hold(Mono<Reply> values) {
		this.before = (_, key) -> InternalKeys.isInternal(key) ? Mono.empty() : values;
	}

	@Test
	void aRepeatThatEndsWhenTheRecordHasExpiredLeavesTheRecordOfTheNextRequestAlone() {
		hold(Mono.never());
		assertThat(put(node())).isNotDone();
		pass(RETENTION.minusSeconds(1));
		Sinks.Empty<Reply> released = Sinks.empty();
		hold(released.asMono());
		CompletableFuture<@Nullable Version> slow = put(node());
		pass(Duration.ofSeconds(1));

		// The replica that is asked first learns nothing of the next request, and its
		// clock is behind.
		Key record = RequestRecord.keyOf(NAME);
		Member first = new RendezvousPlacement(this.topology).replicasOf(record, 1).getFirst();
		this.before = (member, _) -> member.equals(first) ? Mono.never() : Mono.empty();
		CompletableFuture<@Nullable Version> next = put(node());
		this.before = (_, _) -> Mono.empty();
		released.tryEmitEmpty();

		assertThat(slow).isCompleted();
		assertThat(next).isCompleted();
		assertThat(put(node())).isCompletedWithValue(next.join());
	}

	@Test
	void aRepeatByANodeWhoseClockIsBehindSendsTheSameExpiry() {
		SteeredTime slow = new SteeredTime();
		pass(LEAD);
		Member first = this.topology.members().getFirst();
		this.before = (member, key) -> (member.equals(first) || InternalKeys.isInternal(key)) ? Mono.empty()
				: Mono.never();
		assertThat(put(node(), NAME, Condition.NONE, TTL)).isNotDone();
		this.before = (_, _) -> Mono.empty();

		assertThat(put(node(clock(slow), slow), NAME, Condition.NONE, TTL)).isCompleted();

		assertThat(held()).hasSize(3).allSatisfy(held -> assertThat(held).isEqualTo(held().getFirst()));
	}

	@Test
	void aRepeatOfWhatHasExpiredSinceFindsThatItHappened() {
		this.before = (_, key) -> (InternalKeys.isInternal(key) && isHeld()) ? Mono.never() : Mono.empty();
		CompletableFuture<@Nullable Version> first = put(node(), NAME, Condition.NONE, TTL);
		assertThat(first).isNotDone();
		this.before = (_, _) -> Mono.empty();
		pass(Duration.ofSeconds(40));

		assertThat(put(node(), NAME, Condition.NONE, TTL)).isCompleted().isNotCompletedExceptionally();
		assertThat(put(node(), NAME, Condition.NONE, TTL)).isCompleted().isNotCompletedExceptionally();
	}

	@Test
	void aRepeatOfALockWhoseTimeIsOverDoesNotTakeIt() {
		hold(Mono.never());
		this.holdsPrepares = false;
		assertThat(put(node(), NAME, ABSENT, TTL)).isNotDone();
		this.before = (_, _) -> Mono.empty();
		pass(Duration.ofSeconds(40));

		assertUnknown(put(node(), NAME, ABSENT, TTL));
		assertThat(put(node(), null, ABSENT, TTL)).isCompleted().isNotCompletedExceptionally();
	}

	@Test
	void aRepeatThatWaitsForItsTurnInVainIsNotToldThatNothingHappened() {
		Sinks.Many<Long> late = Sinks.many().multicast().directBestEffort();
		Coordinator node = Coordinators.of(this.topology, this.topology.members().getFirst(), this.replicas, this.clock,
				this.time, _ -> late.asFlux().next());
		assertThat(put(node, NAME, ABSENT, null)).isCompleted().isNotCompletedExceptionally();
		hold(Mono.never());
		assertThat(put(node, null, new Condition(Tags.ANY, null), null)).isNotDone();
		CompletableFuture<@Nullable Version> repeat = put(node, NAME, ABSENT, null);
		assertThat(repeat).isNotDone();
		pass(Coordinators.SETTINGS.writeTimeout());
		late.tryEmitNext(0L);

		assertUnknown(repeat);
	}

	@Test
	void aNodeWithoutPeersRecordsNoVersionBelowThatOfAnotherNode() {
		InMemoryStorage storage = new InMemoryStorage();
		Version ahead = new Version((this.time.millis() + 1_000) << Version.COUNTER_BITS, 8);
		storage.store(KEY, new Live(ahead, Copies.DEFAULT, Live.NEVER, "text/plain", VALUE), Deadline.NONE)
			.toFuture()
			.join();

		assertThat(put(Coordinators.alone(storage, this.clock, this.time))).isCompletedExceptionally();

		assertThat(storage.read(RequestRecord.keyOf(NAME), Deadline.NONE).toFuture()).as("what a repeat finds")
			.isCompletedWithValue(null);
	}

	@Test
	void aRequestWhoseRecordIsRefusedDoesNotCount() {
		Coordinator node = node();
		this.before = (_, _) -> Mono.just(Failed.notDone(Reason.OVERLOADED, "a queue"));
		for (int i = 0; i <= Coordinators.SETTINGS.idempotency().maxRecords(); i++) {
			assertThat(put(node)).isCompletedExceptionally()
				.failsWithin(Duration.ZERO)
				.withThrowableThat()
				.havingCause()
				.isInstanceOfSatisfying(OperationFailedException.class,
						failure -> assertThat(failure.mayHaveHappened()).isFalse());
		}
		this.before = (_, _) -> Mono.empty();

		assertThat(put(node)).isCompleted().isNotCompletedExceptionally();
		assertThat(node.requests.size()).isOne();
	}

	/** A replica whose replies wait, or are others, when the test wants it. */
	private final class Steered extends ForwardedReplica {

		Steered(Replica replica) {
			super(replica);
		}

		private Mono<Reply> steered(Key key, Mono<Reply> own) {
			return RequestJournalTests.this.before.apply(member(), key).switchIfEmpty(own);
		}

		@Override
		public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
			return steered(key, Mono.defer(() -> super.store(key, entry, purpose, deadline)));
		}

		@Override
		public Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
			Mono<Reply> own = Mono.defer(() -> super.prepare(key, ballot, deadline));
			return RequestJournalTests.this.holdsPrepares ? steered(key, own) : own;
		}

		@Override
		public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
			return steered(key, Mono.defer(() -> super.accept(key, entry, base, deadline)));
		}

	}

}
