package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.PromiseRecord;
import io.kvorum.storage.StorageEngine.StoreOutcome;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.Flux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Promises on disk: what becomes of them when entries come and go. */
class PromiseTests {

	private static final Key KEY = Generator.key("key");

	private static final Version OLD = new Version(Version.lastTimestampOf(10), 1);

	private static final Version BALLOT = new Version(Version.lastTimestampOf(20), 1);

	private static final Version LATER = new Version(Version.lastTimestampOf(30), 1);

	@TempDir
	private Path directory;

	@Test
	void aPromiseOutlivesTheProcess() {
		try (TestStore store = TestStore.on(this.directory)) {
			prepare(store, BALLOT);
		}
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(store.store(KEY, Generator.live(OLD, "old"))).matches(StoreOutcome::isRefused);
			assertThat(promises(store)).containsExactly(new PromiseRecord(KEY, BALLOT));
		}
	}

	@Test
	void aPromiseThatCannotBeReadIsNotForgotten() throws RocksDBException {
		try (TestStore store = TestStore.on(this.directory)) {
			prepare(store, BALLOT);
		}
		Tables.damage(this.directory, "promises");
		try (TestStore store = TestStore.on(this.directory)) {
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> prepare(store, OLD));
			assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> store.store(KEY, Generator.live(OLD, "old")));
		}
	}

	@Test
	void anEntryUnderItsBallotTakesThePlaceOfItsRow() {
		try (TestStore store = TestStore.on(this.directory)) {
			prepare(store, BALLOT);
			accept(store, under(BALLOT));

			assertThat(promises(store)).isEmpty();
		}
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(store.store(KEY, Generator.live(OLD, "old"))).matches(StoreOutcome::isRefused);
		}
	}

	@Test
	void aPromiseAboveAnEntryUnderABallotKeepsItsRow() {
		try (TestStore store = TestStore.on(this.directory)) {
			prepare(store, LATER);
			Awaited.of(store.engine.keep(KEY, BALLOT));
			assertThat(accept(store, under(BALLOT))).matches(StoreOutcome::isRefused);

			assertThat(promises(store)).containsExactly(new PromiseRecord(KEY, LATER));
		}
	}

	@Test
	void theBallotOfAnEntryThatIsOverwrittenGetsARow() {
		try (TestStore store = TestStore.on(this.directory)) {
			accept(store, under(BALLOT));
			store.store(KEY, Generator.live(LATER, "later"));

			assertThat(promises(store)).containsExactly(new PromiseRecord(KEY, BALLOT));
			assertThat(prepare(store, OLD)).matches(StoreOutcome::isRefused);
		}
	}

	@Test
	void writesOfOneBatchSeeThePromisesOfEachOther() {
		try (TestStore store = TestStore.on(this.directory)) {
			List<StoreOutcome> outcomes = Objects
				.requireNonNull(
						Awaited.of(Flux
							.mergeSequential(store.engine.prepare(KEY, BALLOT, Deadline.NONE),
									store.engine.store(KEY, Generator.live(OLD, "old"), Deadline.NONE),
									store.engine.accept(KEY, under(BALLOT), Version.ABSENT, Deadline.NONE),
									store.engine.prepare(KEY, OLD, Deadline.NONE),
									store.engine.store(KEY, Generator.live(LATER, "later"), Deadline.NONE))
							.collectList()));

			assertThat(outcomes).map(StoreOutcome::isRefused).containsExactly(false, true, false, true, false);
			assertThat(promises(store)).containsExactly(new PromiseRecord(KEY, BALLOT));
		}
	}

	@Test
	void anExpiredEntryKeepsItsLineageAsATombstone() {
		Live expiring = new Live(BALLOT, Copies.DEFAULT, SteeredTime.START_MILLIS + 1000, "text/plain",
				Value.of(new byte[10]));
		Entry entry = expiring.under(BALLOT, Lineage.of(OLD, true, null));
		try (TestStore store = new TestStore(TestSettings.ofReplica(this.directory))) {
			accept(store, entry);
			store.time.pass(Duration.ofSeconds(1));
			store.engine.collectExpired();

			assertThat(store.read(KEY)).isEqualTo(new Tombstone(BALLOT, Copies.DEFAULT, entry.lineage()));
		}
	}

	/** A node without peers leaves no tombstone, and must not forget its promise. */
	@Test
	void anExpiredEntryThatIsRemovedLeavesItsPromise() {
		Live expiring = new Live(BALLOT, Copies.DEFAULT, SteeredTime.START_MILLIS + 1000, "text/plain",
				Value.of(new byte[10]));
		try (TestStore store = TestStore.on(this.directory)) {
			accept(store, expiring.under(BALLOT, Lineage.of(OLD, true, null)));
			store.time.pass(Duration.ofSeconds(1));
			store.engine.collectExpired();

			assertThat(store.read(KEY)).isNull();
			assertThat(promises(store)).containsExactly(new PromiseRecord(KEY, BALLOT));
		}
	}

	@Test
	void aTombstoneUnderAYoungPromiseIsNotRemoved() {
		try (TestStore store = TestStore.on(this.directory)) {
			store.store(KEY, new Tombstone(OLD, 1));
			prepare(store, BALLOT);

			assertThat(Awaited.of(store.engine.remove(KEY, OLD, 20))).isFalse();
			assertThat(store.read(KEY)).isNotNull();
			assertThat(tombstones(store)).isEqualTo(1);
			assertThat(Awaited.of(store.engine.remove(KEY, OLD, 21))).isTrue();
			assertThat(store.read(KEY)).isNull();
			assertThat(tombstones(store)).isZero();
			assertThat(promises(store)).containsExactly(new PromiseRecord(KEY, BALLOT));
		}
	}

	@Test
	void aPromiseIsForgottenUnlessItHasBeenRaised() {
		try (TestStore store = TestStore.on(this.directory)) {
			prepare(store, BALLOT);
			prepare(store, LATER);
			Awaited.of(store.engine.forget(new PromiseRecord(KEY, BALLOT)));
			assertThat(promises(store)).hasSize(1);

			Awaited.of(store.engine.forget(new PromiseRecord(KEY, LATER)));
			assertThat(promises(store)).isEmpty();
			assertThat(store.store(KEY, Generator.live(OLD, "old"))).isEqualTo(StoreOutcome.STORED);
		}
	}

	@Test
	void promisesAreReadInPages() {
		try (TestStore store = TestStore.on(this.directory)) {
			for (int i = 0; i < 5; i++) {
				Awaited.of(store.engine.keep(Generator.key("key" + i), BALLOT));
			}
			List<PromiseRecord> first = page(store, null, 3);
			List<PromiseRecord> rest = page(store, first.getLast().key(), 3);

			assertThat(first).map(PromiseRecord::key)
				.containsExactly(Generator.key("key0"), Generator.key("key1"), Generator.key("key2"));
			assertThat(rest).map(PromiseRecord::key).containsExactly(Generator.key("key3"), Generator.key("key4"));
		}
	}

	@Test
	void thePromiseBesideAnEntryIsReadByItsKey() {
		try (TestStore store = TestStore.on(this.directory)) {
			assertThat(promised(store)).isEqualTo(Version.ABSENT);
			prepare(store, BALLOT);
			assertThat(promised(store)).isEqualTo(BALLOT);
			accept(store, under(BALLOT));
			assertThat(promised(store)).isEqualTo(Version.ABSENT);
			prepare(store, LATER);
			assertThat(promised(store)).isEqualTo(LATER);
		}
	}

	private static @Nullable Version promised(TestStore store) {
		return Awaited.of(store.engine.promised(KEY, Deadline.NONE));
	}

	private static Entry under(Version ballot) {
		return Generator.live(ballot, "under a ballot").under(ballot, Lineage.of(ballot, true, null));
	}

	private static @Nullable StoreOutcome prepare(TestStore store, Version ballot) {
		return Awaited.of(store.engine.prepare(KEY, ballot, Deadline.NONE));
	}

	private static @Nullable StoreOutcome accept(TestStore store, Entry entry) {
		return Awaited.of(store.engine.accept(KEY, entry, Version.ABSENT, Deadline.NONE));
	}

	private static List<PromiseRecord> promises(TestStore store) {
		return page(store, null, 100);
	}

	private static List<PromiseRecord> page(TestStore store, @Nullable Key after, int limit) {
		return Objects.requireNonNull(Awaited.of(store.engine.promises(after, limit, Deadline.NONE)));
	}

	private static int tombstones(TestStore store) {
		return Objects.requireNonNull(Awaited.of(store.engine.tombstones(null, Long.MAX_VALUE, 100, Deadline.NONE)))
			.size();
	}

}
