package io.kvorum.convergence.hints;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.hints.HintEvents.Cause;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Hint;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryHints;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

import static org.assertj.core.api.Assertions.assertThat;

/** The hints of node 0 of three, for stores that node 1 misses. */
@ExtendWith(OutputCaptureExtension.class)
class HintedHandoffTests {

	private static final Duration WINDOW = Duration.ofMinutes(1);

	private static final int MAX_BYTES = 20_000;

	private static final Duration STORE_TIMEOUT = Duration.ofSeconds(2);

	private static final Key KEY = Generator.key("key");

	private final SteeredTime time = new SteeredTime();

	private final ClosableHints log = new ClosableHints();

	private final Target target = new Target(1);

	private final List<Member> inNeed = new ArrayList<>();

	private final List<MonoSink<Long>> alarms = new ArrayList<>();

	private final Map<Cause, Long> dropped = new EnumMap<>(Cause.class);

	private final Target other = new Target(2);

	/** Why this node may not vote; null if it may. */
	private @Nullable String withheld;

	private final HintedHandoff handoff = new HintedHandoff(this.log, List.of(this.target, this.other), 3,
			new HintSettings(WINDOW, MAX_BYTES, Duration.ofSeconds(1), 1 << 30, STORE_TIMEOUT),
			(member, _) -> this.inNeed.add(member), () -> this.withheld, this.time, _ -> Mono.create(this.alarms::add),
			new HintEvents() {

				@Override
				public void dropped(Member target, Cause cause, long hints) {
					HintedHandoffTests.this.dropped.merge(cause, hints, Long::sum);
				}

			});

	private Disposable running = Disposables.disposed();

	@BeforeEach
	void run() {
		this.running = this.handoff.run().subscribe();
	}

	@AfterEach
	void stop() {
		this.running.dispose();
	}

	/** Lets the time pass until the next round, and for what waits for its pace. */
	private void ring() {
		for (int i = 0; i < 10; i++) {
			List<MonoSink<Long>> set = List.copyOf(this.alarms);
			this.alarms.clear();
			set.forEach(alarm -> alarm.success(0L));
		}
	}

	private Entry entry(String text) {
		return Generator.live(new Version(this.time.millis() << Version.COUNTER_BITS, 1), text);
	}

	private void miss(Key key, Entry entry) {
		this.handoff.missed(this.target.member(), key, entry, Reason.AWAY);
	}

	private long waiting() {
		return this.handoff.waiting(this.target.member()).hints();
	}

	@Test
	void whatANodeMissesIsKeptWhileItIsAwayAndHandedOverWhenItIsBack() {
		this.target.isThere = false;
		Entry entry = entry("value");
		miss(KEY, entry);
		ring();
		assertThat(waiting()).isEqualTo(1);
		assertThat(this.handoff.oldestMillis()).isEqualTo(this.time.millis());

		this.target.isThere = true;
		ring();
		assertThat(this.target.stored).containsExactly(entry);
		assertThat(waiting()).isZero();
		assertThat(this.handoff.oldestMillis()).isEqualTo(Long.MAX_VALUE);
		assertThat(this.inNeed).isEmpty();
	}

	@Test
	void aKeyThatIsOverwrittenTenTimesIsHandedOverOnce() {
		this.target.isThere = false;
		for (int i = 0; i < 10; i++) {
			this.time.pass(Duration.ofMillis(1));
			miss(KEY, entry("value " + i));
		}
		this.target.isThere = true;
		ring();

		assertThat(this.target.stored).containsExactly(entry("value 9"));
	}

	@Test
	void aHintThatIsNotAcknowledgedStays() {
		this.target.answer = Mono.just(Failed.unknown(Reason.TIMEOUT, "slow"));
		miss(KEY, entry("value"));
		ring();

		assertThat(this.target.stored).isNotEmpty();
		assertThat(waiting()).isEqualTo(1);
	}

	@Test
	void aLargeHintHasMoreTime() {
		miss(Generator.key("small"), entry("v"));
		miss(KEY, entry("v".repeat(MAX_BYTES - 500)));
		ring();
		assertThat(this.target.deadlines).extracting(deadline -> deadline.remainingNanos(this.time))
			.containsExactlyInAnyOrder(STORE_TIMEOUT.toNanos(),
					STORE_TIMEOUT.plusMillis((MAX_BYTES - 500) / 1000).toNanos());
	}

	@Test
	void aRefusalIsLoggedOnceForEachReason(CapturedOutput output) {
		this.target.answer = Mono.just(Failed.notDone(Reason.NO_SPACE, "the disk is full"));
		miss(KEY, entry("value"));
		ring();
		assertThat(output).containsOnlyOnce("Hints for http://node-1 could not be handed over")
			.contains("the disk is full");

		this.target.answer = Mono.just(Failed.notDone(Reason.OVERLOADED, "too many writes wait"));
		ring();
		assertThat(output).containsOnlyOnce("too many writes wait");

		this.target.answer = Mono.just(Acknowledged.INSTANCE);
		ring();
		assertThat(waiting()).isZero();
		this.target.answer = Mono.just(Failed.notDone(Reason.OVERLOADED, "too many writes wait again"));
		miss(KEY, entry("value"));
		ring();
		assertThat(output).containsOnlyOnce("too many writes wait again");
	}

	@Test
	void aHintThatIsNotStoredInTimeAgainIsRepairedIfOthersAre() {
		// Its answer comes when those of others have come.
		this.target.answers.put(KEY,
				Mono.<Long>create(this.alarms::add).thenReturn(Failed.unknown(Reason.TIMEOUT, "slow")));
		miss(KEY, entry("large"));
		ring();
		assertThat(waiting()).as("the only one").isEqualTo(1);

		this.time.pass(Duration.ofMillis(1));
		miss(Generator.key("small"), entry(""));
		ring();
		assertThat(waiting()).isZero();
		assertThat(this.inNeed).containsExactly(this.target.member());
	}

	@Test
	void whatANodeRefusesByItsClockIsRepairedAndNotKept() {
		this.handoff.missed(this.target.member(), KEY, entry("value"), Reason.CLOCK);

		assertThat(waiting()).isZero();
		assertThat(this.inNeed).containsExactly(this.target.member());
	}

	@Test
	void aNodeThatIsAwayForLongerThanTheWindowIsRepairedInstead() {
		this.target.isThere = false;
		miss(KEY, entry("before"));
		this.time.pass(WINDOW.plusSeconds(1));
		miss(Generator.key("other"), entry("after"));

		assertThat(waiting()).isEqualTo(1);
		assertThat(this.inNeed).containsExactly(this.target.member());
	}

	@Test
	void aNodeThatWasThereInBetweenIsAwayAnew() {
		this.target.isThere = false;
		miss(KEY, entry("in the first absence"));
		this.time.pass(WINDOW.dividedBy(2));
		this.target.isThere = true;
		ring();
		this.time.pass(WINDOW);
		this.target.isThere = false;
		miss(KEY, entry("in the second absence"));

		assertThat(this.dropped).isEmpty();
		assertThat(waiting()).isEqualTo(1);
		assertThat(this.inNeed).isEmpty();
	}

	@Test
	void theHintsForANodeDoNotWaitForThoseOfASlowOne() {
		this.target.answer = Mono.never();
		miss(KEY, entry("slow"));
		this.other.isThere = false;
		Entry entry = entry("value");
		this.handoff.missed(this.other.member(), KEY, entry, Reason.AWAY);
		ring();
		assertThat(this.target.stored).isNotEmpty();
		this.other.isThere = true;
		ring();

		assertThat(this.other.stored).containsExactly(entry);
	}

	@Test
	void hintsThatCannotBeReadAreGivenUpAndCountedAndAllIsRepaired() {
		this.target.isThere = false;
		miss(KEY, entry("value"));
		miss(Generator.key("other"), entry("value"));
		this.log.whenRead = new Unreadable(new IOException("block checksum mismatch"));
		ring();

		assertThat(waiting()).isZero();
		assertThat(this.inNeed).hasSize(Partitions.SLICES).containsOnly(this.target.member());
		assertThat(this.dropped).containsExactly(Map.entry(Cause.UNREADABLE, 2L));
	}

	@Test
	void anUnexpectedErrorIsLoggedWithItsStackAndTheHintsStay(CapturedOutput output) {
		miss(KEY, entry("value"));
		this.log.whenRead = new IllegalStateException("not foreseen");
		ring();
		ring();
		assertThat(output).containsOnlyOnce("The replay of hints for http://node-1 met an unexpected error")
			.contains("IllegalStateException: not foreseen", "at " + HintedHandoffTests.class.getName());

		this.log.whenRead = null;
		ring();
		assertThat(this.target.stored).hasSize(1);
	}

	@Test
	void hintsForKeysThatANodeCannotReadAreRepairedAndHoldUpNoOthers() {
		this.target.isThere = false;
		// One more than are handed over at a time.
		for (int i = 0; i < 17; i++) {
			miss(Generator.key("damaged " + i), entry(""));
		}
		this.time.pass(Duration.ofMillis(1));
		Entry entry = entry("value");
		miss(KEY, entry);
		assertThat(this.dropped).isEmpty();
		this.target.isThere = true;
		this.target.damaged = key -> !key.equals(KEY);
		ring();

		assertThat(this.target.stored).contains(entry);
		assertThat(waiting()).isZero();
		assertThat(this.inNeed).containsOnly(this.target.member()).hasSize(17);

		this.handoff.missed(this.target.member(), KEY, entry, Reason.UNREADABLE);
		assertThat(waiting()).isZero();
		assertThat(this.inNeed).hasSize(18);
	}

	@Test
	void aHintThatIsOlderThanTheWindowIsThrownAwayAndNeverHandedOver() {
		this.target.isThere = false;
		miss(KEY, entry("value"));
		this.time.pass(WINDOW.plusSeconds(1));
		this.target.isThere = true;
		ring();

		assertThat(this.target.stored).isEmpty();
		assertThat(waiting()).isZero();
		assertThat(this.inNeed).containsExactly(this.target.member());
	}

	@Test
	void whereTooMuchWaitsANodeIsRepairedInstead() {
		this.target.isThere = false;
		miss(Generator.key("first"), entry("x".repeat(MAX_BYTES)));
		miss(Generator.key("second"), entry("x"));

		assertThat(waiting()).isEqualTo(1);
		assertThat(this.inNeed).containsExactly(this.target.member());
	}

	@Test
	void nothingIsHandedOverByANodeThatMayNotVote() {
		this.withheld = "it has just started";
		Entry entry = entry("value");
		miss(KEY, entry);
		ring();
		assertThat(this.target.stored).isEmpty();
		assertThat(waiting()).isEqualTo(1);

		this.withheld = null;
		ring();
		assertThat(this.target.stored).containsExactly(entry);
	}

	@Test
	void aReplayEndsWhenTheNodeMayNotVoteAnyMore() {
		this.target.isThere = false;
		for (int i = 0; i < 40; i++) {
			miss(Generator.key("key-" + i), entry("value"));
		}
		ring();
		this.target.isThere = true;
		this.target.answer = Mono.fromSupplier(() -> {
			this.withheld = "its disk is a stale one";
			return Acknowledged.INSTANCE;
		});
		ring();

		assertThat(this.target.stored).hasSize(1);
		assertThat(waiting()).isEqualTo(39);
	}

	@Test
	void theHintsOfAStaleDiskAreGivenUpAndAllIsComparedInstead() {
		this.withheld = "its disk is a stale one";
		miss(KEY, entry("value"));
		miss(Generator.key("second"), entry("value"));
		Now.of(this.handoff.giveUpAll());

		this.withheld = null;
		ring();
		assertThat(this.target.stored).isEmpty();
		assertThat(waiting()).isZero();
		assertThat(this.dropped).containsExactly(Map.entry(Cause.STALE_DISK, 2L));
		assertThat(this.inNeed).hasSize(Partitions.SLICES).containsOnly(this.target.member());
	}

	@Test
	void whatTheOwnDiskDidNotTakeIsBroughtByARepair() {
		Member self = new Member(0, "http://node-0");
		this.handoff.missed(self, KEY, entry("value"), Reason.NO_SPACE);

		assertThat(this.inNeed).containsExactly(self);
	}

	@Test
	void aWriteThatEndsWhileTheNodeStopsDoesNotFailForAHint() {
		this.target.isThere = false;
		this.log.isClosed = true;
		miss(KEY, entry("value"));
		ring();

		assertThat(this.inNeed).containsExactly(this.target.member());
		assertThat(this.running.isDisposed()).as("handing over goes on until it is stopped").isFalse();
	}

	/** Fails as closed, once it is closed, and as the test asks for. */
	private static final class ClosableHints extends InMemoryHints {

		private boolean isClosed;

		private @Nullable RuntimeException whenRead;

		@Override
		public Mono<Boolean> add(long target, Key key, Entry entry) {
			return this.isClosed ? Mono.error(new Unavailable("closed")) : super.add(target, key, entry);
		}

		@Override
		public Mono<List<Hint>> oldest(long target, int maxBytes, int maxItems, Deadline deadline) {
			return (this.whenRead != null) ? Mono.error(this.whenRead)
					: super.oldest(target, maxBytes, maxItems, deadline);
		}

		@Override
		public synchronized Waiting waiting(long target) {
			if (this.isClosed) {
				throw new Unavailable("closed");
			}
			return super.waiting(target);
		}

	}

	/** The replica of another node. */
	private static final class Target implements Replica {

		private final Member member;

		private final List<Entry> stored = new ArrayList<>();

		private final List<Deadline> deadlines = new ArrayList<>();

		private boolean isThere = true;

		private Mono<Reply> answer = Mono.just(Acknowledged.INSTANCE);

		private Predicate<Key> damaged = _ -> false;

		private final Map<Key, Mono<Reply>> answers = new HashMap<>();

		Target(int index) {
			this.member = new Member(index, "http://node-" + index);
		}

		@Override
		public Member member() {
			return this.member;
		}

		@Override
		public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
			return Mono.defer(() -> {
				this.stored.add(entry);
				this.deadlines.add(deadline);
				return this.damaged.test(key) ? Mono.just(Failed.notDone(Reason.UNREADABLE, "damaged"))
						: this.answers.getOrDefault(key, this.answer);
			});
		}

		@Override
		public Mono<Reply> read(Key key, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Mono<Reply> readVersion(Key key, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public long expectedNanos() {
			return this.isThere ? 0 : AWAY;
		}

	}

}
