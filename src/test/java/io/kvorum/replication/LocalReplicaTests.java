package io.kvorum.replication;

import java.time.Duration;
import java.util.HashSet;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.storage.Page;
import io.kvorum.storage.PromiseRecord;
import io.kvorum.storage.StorageEngine;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/** The model answers at once: what a replica replies is there when it was asked. */
class LocalReplicaTests {

	private static final Key KEY = Generator.key("key");

	private final SteeredTime time = new SteeredTime();

	private final InMemoryStorage storage = new InMemoryStorage();

	private final HybridLogicalClock clock = new HybridLogicalClock(this.time);

	private final Member member = new Member(0, "http://self");

	private final Set<Version> collected = new HashSet<>();

	private final LocalReplica replica = new LocalReplica(this.member, this.storage, this.clock, this.time,
			VotingRight.TRUSTED, PeerQueries.NONE, this.collected::contains);

	private final Deadline deadline = Deadline.after(this.time, Duration.ofSeconds(1));

	LocalReplicaTests() {
		this.clock.start(7, 0, _ -> CompletableFuture.completedFuture(null));
	}

	private static Reply reply(Mono<Reply> mono) {
		Reply reply = Now.of(mono);
		if (reply == null) {
			throw new AssertionError("there is no reply");
		}
		return reply;
	}

	private Reply store(Entry entry, Purpose purpose) {
		return reply(this.replica.store(KEY, entry, purpose, this.deadline));
	}

	private @Nullable Entry stored() {
		return Now.of(this.storage.read(KEY, Deadline.NONE));
	}

	private Entry ahead(long millis) {
		return Generator.live(new Version((this.time.millis() + millis) << Version.COUNTER_BITS, 1), "ahead " + millis);
	}

	private static void assertRefused(Reply reply, Reason reason) {
		assertThat(reply).isInstanceOfSatisfying(Failed.class, failed -> {
			assertThat(failed.reason()).isEqualTo(reason);
			assertThat(failed.mayHaveHappened()).isFalse();
			assertThat(failed.mayRetry()).isTrue();
		});
	}

	@Test
	void itTellsWhatItHoldsTombstonesAndWhatHasExpiredToo() {
		assertThat(reply(this.replica.read(KEY, this.deadline))).isEqualTo(Held.nothing());
		Entry expired = Generator.live(ahead(-5).version(), "expired", this.time.millis() - 1);
		store(expired, Purpose.REPAIR);
		assertThat(reply(this.replica.read(KEY, this.deadline))).isEqualTo(Held.of(expired));
		Tombstone tombstone = new Tombstone(ahead(0).version(), 3);
		store(tombstone, Purpose.WRITE);
		assertThat(reply(this.replica.read(KEY, this.deadline))).isEqualTo(Held.of(tombstone));
	}

	@Test
	void aWriteThatHasExpiredBeforeItCameIsRefusedAndARepairIsNot() {
		Entry expired = Generator.live(ahead(-1_000).version(), "expired", this.time.millis());
		assertRefused(store(expired, Purpose.WRITE), Reason.TIMEOUT);
		assertThat(stored()).isNull();

		assertThat(store(expired, Purpose.REPAIR)).isEqualTo(Acknowledged.INSTANCE);
		assertThat(store(Generator.live(ahead(0).version(), "lasting", this.time.millis() + 1), Purpose.WRITE))
			.isEqualTo(Acknowledged.INSTANCE);
	}

	@Test
	void aWriteThatIsGoneByTheTimeOfReadersIsRefused() {
		this.clock.observe(ahead(400).version());
		Entry expired = Generator.live(ahead(-700).version(), "expired", this.clock.expiryMillis());

		assertRefused(store(expired, Purpose.WRITE), Reason.TIMEOUT);
		assertThat(stored()).isNull();
	}

	@Test
	void aTombstoneThatWasCollectedHereIsNotTakenBack() {
		Tombstone tombstone = new Tombstone(ahead(0).version(), 3);
		this.collected.add(tombstone.version());

		assertThat(store(tombstone, Purpose.WRITE_BACK)).isEqualTo(Acknowledged.INSTANCE);
		assertThat(stored()).isNull();
		Tombstone other = new Tombstone(ahead(1).version(), 3);
		assertThat(store(other, Purpose.WRITE_BACK)).isEqualTo(Acknowledged.INSTANCE);
		assertThat(stored()).isEqualTo(other);
	}

	@Test
	void aTombstoneThatIsBeingCollectedIsNotStoredBehindItsRemoval() {
		Tombstone tombstone = new Tombstone(ahead(0).version(), 3);
		store(tombstone, Purpose.WRITE_BACK);
		this.collected.add(tombstone.version());
		LocalReplica collecting = new LocalReplica(this.member, new Collecting(this.storage), this.clock, this.time,
				VotingRight.TRUSTED, PeerQueries.NONE, this.collected::contains);

		assertThat(reply(collecting.store(KEY, tombstone, Purpose.WRITE_BACK, this.deadline)))
			.isEqualTo(Acknowledged.INSTANCE);
		assertThat(stored()).isNull();
	}

	@Test
	void aTombstoneThatWasCollectedHereIsStoredAboveAnythingThatIsOlder() {
		store(ahead(-5), Purpose.WRITE_BACK);
		Tombstone tombstone = new Tombstone(ahead(0).version(), 3);
		this.collected.add(tombstone.version());

		assertThat(store(tombstone, Purpose.WRITE_BACK)).isEqualTo(Acknowledged.INSTANCE);
		assertThat(stored()).isEqualTo(tombstone);
	}

	@Test
	void toWhoAsksForTheVersionItTellsNoMore() {
		assertThat(reply(this.replica.readVersion(KEY, this.deadline))).isEqualTo(Held.nothing());
		store(ahead(0), Purpose.WRITE);

		assertThat(reply(this.replica.readVersion(KEY, this.deadline))).isEqualTo(new Held(ahead(0).version(), null));
	}

	@Test
	void anOlderEntryIsAcknowledgedAndNotKept() {
		store(ahead(0), Purpose.WRITE);

		assertThat(store(ahead(-1), Purpose.WRITE)).isEqualTo(Acknowledged.INSTANCE);
		assertThat(stored()).isEqualTo(ahead(0));
	}

	@Test
	void aVersionUpToTheLimitAheadOfTheClockIsStoredAndFollowed() {
		assertThat(store(ahead(500), Purpose.WRITE)).isEqualTo(Acknowledged.INSTANCE);

		assertThat(stored()).isEqualTo(ahead(500));
		assertThat(this.clock.next().isNewerThan(ahead(500).version())).isTrue();
	}

	@Test
	void aVersionBeyondTheLimitIsRefusedAndNotFollowed() {
		assertRefused(store(ahead(501), Purpose.WRITE), Reason.CLOCK);

		assertThat(stored()).isNull();
		assertThat(this.clock.next().millis()).isEqualTo(this.time.millis());
		assertThat(this.clock.refusedLeadMillis()).isEqualTo(501);
	}

	@Test
	void aVersionBeyondTheLimitIsStoredWhereWhatIsThereIsAsFarAhead() {
		store(ahead(2_000), Purpose.REPAIR);

		assertThat(store(ahead(2_500), Purpose.WRITE)).isEqualTo(Acknowledged.INSTANCE);
		assertThat(stored()).isEqualTo(ahead(2_500));
		assertRefused(store(ahead(3_001), Purpose.WRITE), Reason.CLOCK);
		assertThat(stored()).isEqualTo(ahead(2_500));
	}

	@Test
	void theLastNodeRefusesAWriteBelowAVersionOfANodeThatHasLeftAndNotBelowItsOwn() {
		LocalReplica last = new LocalReplica(this.member, this.storage, this.clock, this.time, VotingRight.TRUSTED,
				PeerQueries.NONE, this.collected::contains, true);
		store(ahead(400), Purpose.WRITE);
		Entry unseen = Generator.live(new Version((this.time.millis() + 300) << Version.COUNTER_BITS, 7), "unseen");

		assertRefused(reply(last.store(KEY, unseen, Purpose.WRITE, this.deadline)), Reason.CLOCK);
		assertThat(store(unseen, Purpose.WRITE)).as("with peers a round has compared versions before")
			.isEqualTo(Acknowledged.INSTANCE);

		Entry overwritten = Generator.live(new Version((this.time.millis() + 350) << Version.COUNTER_BITS, 1), "old");
		assertThat(reply(last.store(KEY, overwritten, Purpose.WRITE, this.deadline))).isEqualTo(Acknowledged.INSTANCE);
		assertThat(stored()).isEqualTo(ahead(400));
	}

	@Test
	void theVersionOfARepairIsNotHeldAgainstTheClock() {
		assertThat(store(ahead(3_600_000), Purpose.REPAIR)).isEqualTo(Acknowledged.INSTANCE);

		assertThat(stored()).isEqualTo(ahead(3_600_000));
		assertThat(this.clock.next().millis()).as("nor followed").isEqualTo(this.time.millis());
	}

	@Test
	void afterTheDeadlineNothingIsDone() {
		this.time.pass(Duration.ofSeconds(1));

		assertRefused(store(ahead(0), Purpose.WRITE), Reason.TIMEOUT);
		assertRefused(store(ahead(0), Purpose.REPAIR), Reason.TIMEOUT);
		assertRefused(reply(this.replica.read(KEY, this.deadline)), Reason.TIMEOUT);
		assertRefused(reply(this.replica.readVersion(KEY, this.deadline)), Reason.TIMEOUT);
		assertThat(stored()).isNull();
	}

	private Reply scan(Page.Limit limit) {
		return reply(this.replica.scan(KeyRange.all(), limit, this.deadline));
	}

	@Test
	void itListsTheKeysOfClientsTombstonesAndWhatHasExpiredToo() {
		NavigableMap<Key, Entry> stored = new TreeMap<>();
		stored.put(Generator.key("a"), Generator.live(ahead(-5).version(), "expired", this.time.millis() - 1));
		stored.put(Generator.key("b"), new Tombstone(ahead(0).version(), 3));
		stored.put(Generator.key("c"), ahead(0));
		stored.forEach((key, entry) -> Now.of(this.replica.store(key, entry, Purpose.REPAIR, this.deadline)));
		Now.of(this.replica.store(InternalKeys.ofRequest("name"), ahead(0), Purpose.REPAIR, this.deadline));

		assertThat(scan(Page.Limit.of(10_000, 10))).isInstanceOfSatisfying(Listed.class, listed -> {
			assertThat(listed.page().isLast()).isTrue();
			Page.Cursor cursor = listed.page().cursor();
			stored.forEach((key, entry) -> {
				assertThat(cursor.advance()).isTrue();
				assertThat(cursor.entry()).isEqualTo(entry);
			});
			assertThat(cursor.advance()).isFalse();
		});
		assertThat(scan(Page.Limit.of(10_000, 2))).isInstanceOfSatisfying(Listed.class,
				listed -> assertThat(listed.page().isLast()).isFalse());
	}

	@Test
	void ofAKeyItTellsTheHighestPromiseAndTheEntryWithoutItsValue() {
		Version ballot = ahead(10).version();
		Version higher = ahead(20).version();
		assertThat(head()).isEqualTo(new KeyHead(Version.ABSENT, null));
		Now.of(this.storage.prepare(KEY, ballot, Deadline.NONE));
		assertThat(head()).isEqualTo(new KeyHead(ballot, null));
		Lineage lineage = new Generator(1).lineage();
		Now.of(this.storage.accept(KEY, ahead(10).under(ballot, lineage), Version.ABSENT, Deadline.NONE));
		Now.of(this.storage.forget(new PromiseRecord(KEY, ballot)));

		Entry entry = new Live(ballot, 1, Live.NEVER, "text/plain", Value.of(new byte[0])).under(ballot, lineage);
		assertThat(head()).isEqualTo(new KeyHead(ballot, entry));
		Now.of(this.storage.prepare(KEY, higher, Deadline.NONE));
		assertThat(head()).isEqualTo(new KeyHead(higher, entry));
	}

	@Test
	void withoutItsVotingRightOrAKeyItTellsNoHead() {
		LocalReplica doubted = new LocalReplica(this.member, this.storage, this.clock, this.time, () -> "doubted",
				PeerQueries.NONE, this.collected::contains);
		assertRefused(reply(doubted.ask(KeyHead.query(KEY), this.deadline)), Reason.REBUILDING);
		assertThat(reply(this.replica.ask(new PeerQuery(PeerQuery.Kind.HEAD, new byte[0]), this.deadline)))
			.isInstanceOfSatisfying(Failed.class, failed -> assertThat(failed.reason()).isEqualTo(Reason.INTERNAL));
	}

	private KeyHead head() {
		return (reply(this.replica.ask(KeyHead.query(KEY), this.deadline)) instanceof Answered answered)
				? KeyHead.read(KEY, answered.bytes()) : new KeyHead(Version.ABSENT, null);
	}

	@Test
	void afterTheDeadlineNothingIsListed() {
		this.time.pass(Duration.ofSeconds(1));

		assertRefused(scan(Page.Limit.of(100, 10)), Reason.TIMEOUT);
	}

	@Test
	void itIsThereAndCostsNothing() {
		assertThat(this.replica.expectedNanos()).isZero();
		assertThat(this.replica.member()).isEqualTo(this.member);
	}

	/** Removes whatever is read, behind the read. */
	private record Collecting(InMemoryStorage storage) implements StorageEngine {

		@Override
		public Mono<StoreOutcome> repair(Key key, Entry entry, Deadline deadline) {
			return this.storage.repair(key, entry, deadline);
		}

		@Override
		public Mono<Version> promised(Key key, Deadline deadline) {
			return this.storage.promised(key, deadline);
		}

		@Override
		public Mono<StoreOutcome> prepare(Key key, Version ballot, Deadline deadline) {
			return this.storage.prepare(key, ballot, deadline);
		}

		@Override
		public Mono<StoreOutcome> accept(Key key, Entry entry, Version base, Deadline deadline) {
			return this.storage.accept(key, entry, base, deadline);
		}

		@Override
		public Mono<Entry> read(Key key, Deadline deadline) {
			return this.storage.read(key, deadline).delayUntil(entry -> this.storage.remove(key, entry.version()));
		}

		@Override
		public Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline) {
			return this.storage.store(key, entry, deadline);
		}

		@Override
		public Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
			return this.storage.scan(range, limit, deadline);
		}

		@Override
		public Mono<Void> probe() {
			return this.storage.probe();
		}

	}

}
